"""Machines that were recorded until they failed: would there have been an alarm, and when?"""
