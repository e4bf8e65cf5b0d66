"""What this computer can do: extras, hardware, services, and how to get what is missing."""
