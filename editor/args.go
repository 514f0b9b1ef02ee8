package editor

// Description tells a model what the tool does.
const Description = `Custom editing tool for viewing, creating and editing files
* State is persistent across command calls and discussions with the user
* If ` + "`path`" + ` is a file, ` + "`view`" + ` displays its lines with their numbers. If ` + "`path`" + ` is a directory, ` + "`view`" + ` lists non-hidden files and directories up to 2 levels deep
* The ` + "`create`" + ` command cannot be used if the specified ` + "`path`" + ` already exists as a file
* If a ` + "`command`" + ` generates a long output, it will be truncated and marked with ` + "`<response clipped>`" + `
* All paths start with ` + "`/draft`" + `. Line endings, tabs and everything else outside the edit are kept as they are

Notes for using the ` + "`str_replace`" + ` command:
* The ` + "`old_str`" + ` parameter should match EXACTLY one or more consecutive lines from the original file. Be mindful of whitespaces!
* If the ` + "`old_str`" + ` parameter is not unique in the file, the replacement will not be performed. Make sure to include enough context in ` + "`old_str`" + ` to make it unique
* The ` + "`new_str`" + ` parameter should contain the edited lines that should replace the ` + "`old_str`"

// Args are the tool's parameters. The schema that a model is offered is made
// from this type: the tags give its form, GetFieldDocString its texts. A
// parameter that the command doesn't use may be absent or null.
type Args struct {
	Command    string  `json:"command" jsonschema:"enum=view,enum=create,enum=str_replace,enum=insert"`
	Path       string  `json:"path"`
	FileText   *string `json:"file_text,omitempty"`
	InsertLine *int    `json:"insert_line,omitempty" jsonschema:"minimum=0"`
	NewStr     *string `json:"new_str,omitempty"`
	OldStr     *string `json:"old_str,omitempty"`
	ViewRange  []int   `json:"view_range,omitempty"`
}

// GetFieldDocString returns what the parameter in the named field of Args is
// for; invopop/jsonschema asks for it.
func (Args) GetFieldDocString(field string) string { return descriptions[field] }

var descriptions = map[string]string{
	"Command":    "The commands to run. Allowed options are: `view`, `create`, `str_replace`, `insert`.",
	"Path":       "Absolute path to file or directory, e.g. `/draft/trigger.star` or `/draft`.",
	"FileText":   "Required parameter of `create` command, with the content of the file to be created.",
	"InsertLine": "Required parameter of `insert` command. The `new_str` will be inserted AFTER the line `insert_line` of `path`.",
	"NewStr": "Optional parameter of `str_replace` command containing the new string (if not given, no string will be added). " +
		"Required parameter of `insert` command containing the string to insert.",
	"OldStr": "Required parameter of `str_replace` command containing the string in `path` to replace.",
	"ViewRange": "Optional parameter of `view` command when `path` points to a file. If none is given, the full file is shown. " +
		"If provided, the file will be shown in the indicated line number range, e.g. [11, 12] will show lines 11 and 12. Indexing at 1 to start. " +
		"Setting `[start_line, -1]` shows all lines from `start_line` to the end of the file.",
}
