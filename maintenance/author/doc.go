// Package author is the built-in author: a model endpoint inside the process
// that writes rules by programming by example.
//
// It speaks OpenAI chat completions, without streaming, and knows only what is
// in the messages: the task block that the loop writes for any model, and the
// replies of the three tools. Each answer is a function of the conversation
// alone, so the same conversation gets the same bytes on every machine; what it
// keeps between requests is a cache of searches and changes no answer.
//
// It makes one tool call a turn and as few turns as it can: create_rule, the
// manifest, the trigger, the executor with its helper files, submit_rule. After
// a refusal it learns again with the revealed cases, and where nothing new can
// be learned it gives up and says which examples would help. It never asks the
// network, and it doesn't judge its own work: the oracle does.
package author
