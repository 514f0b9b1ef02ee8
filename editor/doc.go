// Package editor is str_replace_editor on the tree of a draft: view, create,
// str_replace and insert with the parameters and sentences that models know
// from the DSH harness, and an undo that people use.
//
// The tree is reached through a directory that stays open; a model knows it as
// /draft and never sees where it lies. Every file is opened beneath that
// directory, by the kernel's own resolution (openat2) or by a walk that refuses
// links and mounts, so that no path, link or swap of a folder leads outside.
// Files are bytes: whatever lies outside an edit stays as it is, line endings,
// byte order mark, mode and a missing final newline included. A file that isn't
// UTF-8, or holds NUL, is refused and never guessed at. A match is literal; the
// only tolerance is that "\n" in old_str also stands for "\r\n" in the file.
//
// A change is written beside the file, synced, and exchanged with it in one
// step; what fails before the folder is synced is taken back, so that an error
// means that nothing has changed. A crash can leave a temporary file, which the
// next Open removes.
//
// An integer or an array of integers that arrives as a string, or as 1.0, is
// taken where nothing is lost and the result says Repaired. Nothing else is
// repaired. A parameter that the command doesn't use is an error, because a
// model that gives one expects it to count; null, "", 0 and [] are let through,
// the last three as Repaired.
//
// Each error is a sentence for the model and a stable code for the audit. The
// codes of arguments: bad_json, trailing_data, not_object, duplicate_parameter,
// unknown_parameter, unused_parameter, missing_parameter, empty_parameter,
// bad_type, bad_command, arguments_too_large, arguments_too_deep, bad_request (of
// Serve). Of paths:
// not_absolute, outside, bad_path, path_too_deep, missing, is_directory,
// not_directory, not_regular, symlink, hard_link, mount, exists, not_open. Of
// contents: not_utf8, nul, no_match, many_matches, no_change, bad_range,
// bad_line. Of quotas: file_too_large, tree_too_large, too_many_files,
// too_many_folders. Of undo: no_history, file_changed. Of the machine:
// access_denied, no_space, io_error, not_kept, and uncertain, the only one after
// which a file may have changed.
//
// The package keeps no journal of its own: each accepted change is a Change,
// which the caller stores before the tree shows it (Options.Keep), replays with
// Apply, and gives back with Load. It
// neither logs nor chooses which files may be changed (SetWritable does), and
// it isn't a guard against someone who moves folders of the tree to other
// places while a call runs.
package editor
