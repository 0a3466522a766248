"""One adapter a peer, at its recommended settings; each imports the peer and runs in the peers' own environment."""
