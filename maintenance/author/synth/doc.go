// Package synth finds programs by example: from rows of text columns with the
// outputs that a person certified, it makes a Tree, or says why it can't.
//
// A Tree holds not one program but every reading of the examples that is about
// as plausible as the best one, and for each slot of a reading the expressions
// that the examples can't tell apart. It answers an input only where all of
// them agree, and only where every leaf foretold at least one example before
// that example was shown to it. Everything else abstains with a note.
//
// The search is goal-directed (a component that isn't part of every output is
// dropped), merges components that give the same values (observational
// equivalence), and builds outputs best-first over the tuple of output offsets.
// Its budget counts steps, never time, so that the same examples give the same
// tree on every machine. The package reads no conversation and writes no
// starlark; it knows neither instructions nor files.
package synth
