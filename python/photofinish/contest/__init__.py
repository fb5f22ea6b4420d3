"""What races: suites, contestants and the plan made from them. Pure: nothing here starts or measures anything."""
