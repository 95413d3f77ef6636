"""Output of commands: releases, laws and studies as text or pictures, and notes about waiting."""
