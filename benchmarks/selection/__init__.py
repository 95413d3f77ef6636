"""Selection from candidates: releases, simulated draws, top-k, responses, cold starts, leaks."""
