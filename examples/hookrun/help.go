package main

import _ "embed"

// helpText is what hookrun -help prints.
//
//go:embed help.txt
var helpText string
