"""Rule sets: weighted conjunctions of conditions, few of them, with a bound over all."""
