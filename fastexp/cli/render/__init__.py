"""What is printed and drawn: releases, laws, studies, and why they take their time."""
