"""Tables, figures and the HTML page of the experiments."""
