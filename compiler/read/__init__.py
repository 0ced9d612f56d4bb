"""Sources, evidence and knowledge that a compile reads."""
