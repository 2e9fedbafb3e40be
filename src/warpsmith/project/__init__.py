"""What a project is: what is compiled, how, and into which programs. Texts and processes, no syntax trees."""
