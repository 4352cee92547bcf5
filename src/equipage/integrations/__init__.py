"""What other programs take from equipage. Each module needs the program that it is for."""
