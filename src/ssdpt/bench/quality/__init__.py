"""`ssdpt bench quality`: systems on labelled data sets, beside published figures."""
