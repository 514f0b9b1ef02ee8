// Package lang is the language of the programs that the built-in author
// writes: expressions from the text columns of an input to a text.
//
// Every expression has two faces that must agree exactly: Eval, which the
// search uses, and Star, the starlark expression that a finished rule holds.
// Star calls functions of Library, which is shipped with the rule, so that the
// patterns of tokens and dates stand in one place for both. Offsets are bytes
// at the borders of characters; numbers are exact decimals, never floats.
// An expression that doesn't apply to an input is undefined, never empty text.
//
// Costs are whole numbers: the order of programs must not depend on a machine.
// The package searches for nothing and reads no conversation.
package lang
