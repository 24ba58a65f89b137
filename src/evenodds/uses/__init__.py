"""What one does with a policy. These modules do not import each other."""
