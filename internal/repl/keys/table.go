package keys

// Actions of the screen itself. Its parts (prompt, question, list, pager) know theirs by
// their first keys.
const (
	Interrupt Action = "interrupt"
	Suspend   Action = "suspend"
	Mode      Action = "mode"
	Effort    Action = "effort"
	Send      Action = "send"
	Stop      Action = "stop"
	Leave     Action = "leave"
	Show      Action = "keys"
	Whole     Action = "whole"
	Compose   Action = "compose"
	Image     Action = "image"
	Previous  Action = "previous"
	Reprint   Action = "reprint"
	Answer    Action = "answer"
)

// table lists all keys in display order.
var table = []Binding{
	{Action: Send, Place: Prompt, Keys: []string{"enter"}, Help: "send; with `\\` before it, a new line", Brief: "send", needed: true},
	{Action: "newline", Place: Prompt, Keys: []string{"alt+enter", "shift+enter", "ctrl+enter", "ctrl+j"}, Help: "a new line", Brief: "new line"},
	{Action: Stop, Place: Prompt, Keys: []string{"esc"}, Help: "close the list; stop the model; twice: clear the prompt or, if it is empty, go back to an earlier one", Brief: "stop; twice: go back", needed: true},
	{Action: Interrupt, Place: Everywhere, Keys: []string{"ctrl+c"}, Help: "clear the prompt or stop the model; then leave", Brief: "clear; twice: leave", fixed: true},
	{Action: Leave, Place: Prompt, Keys: []string{"ctrl+d"}, Help: "leave, if the prompt is empty", Brief: "leave", own: true},
	{Action: Mode, Place: Everywhere, Keys: []string{"shift+tab"}, Help: "the next permission mode", Brief: "permission mode"},
	{Action: Effort, Place: Everywhere, Keys: []string{"ctrl+t"}, Help: "how much the model thinks, from the next prompt on: low, medium, high, its default", Brief: "the model's effort", own: true},
	{Action: Whole, Place: Everywhere, Keys: []string{"ctrl+o"}, Help: "the full conversation in the pager, including folded output and reasoning", Brief: "show everything", own: true},
	{Action: Reprint, Place: Everywhere, Keys: []string{"ctrl+l"}, Help: "clear the screen and print the conversation again at the current width"},
	{Action: Suspend, Place: Everywhere, Keys: []string{"ctrl+z"}, Help: "suspend the program (Unix)"},
	{Action: Show, Place: Prompt, Keys: []string{"?"}, Help: "the keys, if the prompt is empty", own: true},
	{Action: "complete", Place: Prompt, Keys: []string{"tab"}, Help: "insert the selected entry of the list", Brief: "complete"},
	{Action: Answer, Place: Prompt, Keys: []string{"tab"}, Help: "answer the question above the draft", own: true, needed: true},
	{Action: Previous, Place: Prompt, Keys: []string{"up", "ctrl+p"}, Help: "the line above; what is queued; an older prompt; in a list, the one above", Brief: "older prompt"},
	{Action: "next", Place: Prompt, Keys: []string{"down", "ctrl+n"}, Help: "the line below; a newer prompt; in a list, the one below"},
	{Action: "history", Place: Prompt, Keys: []string{"ctrl+r"}, Help: "search earlier prompts", Brief: "search older prompts"},
	{Action: Compose, Place: Prompt, Keys: []string{"ctrl+g"}, Help: "write the prompt in your own editor", Brief: "your editor", own: true},

	{Action: Image, Place: Prompt, Keys: []string{"ctrl+v"}, Help: "attach the image in the clipboard", own: true},

	{Action: "undo-typing", Place: Prompt, Keys: []string{"ctrl+_", "ctrl+/", "ctrl+shift+-", "ctrl+7"}, Help: "undo the last edit", Brief: "undo typing"},
	{Action: "redo-typing", Place: Prompt, Keys: []string{"alt+_", "alt+/", "ctrl+alt+_", "alt+shift+-", "ctrl+alt+-"}, Help: "do it again"},
	{Action: "yank", Place: Prompt, Keys: []string{"ctrl+y"}, Help: "insert the last deleted line or word"},
	{Action: "yank-older", Place: Prompt, Keys: []string{"alt+y"}, Help: "then replace it with an older one"},
	{Action: "delete-left", Place: Prompt, Keys: []string{"backspace", "ctrl+h", "shift+backspace"}, Help: "delete the character before"},
	{Action: "delete", Place: Prompt, Keys: []string{"delete", "ctrl+d"}, Help: "delete the character under the cursor"},
	{Action: "left", Place: Prompt, Keys: []string{"left", "ctrl+b"}, Help: "one character to the left"},
	{Action: "right", Place: Prompt, Keys: []string{"right", "ctrl+f"}, Help: "one character to the right"},
	{Action: "word-left", Place: Prompt, Keys: []string{"alt+b", "ctrl+left", "alt+left"}, Help: "one word to the left"},
	{Action: "word-right", Place: Prompt, Keys: []string{"alt+f", "ctrl+right", "alt+right"}, Help: "one word to the right"},
	{Action: "line-start", Place: Prompt, Keys: []string{"home", "ctrl+a"}, Help: "the start of the line"},
	{Action: "line-end", Place: Prompt, Keys: []string{"end", "ctrl+e"}, Help: "the end of the line"},
	{Action: "text-start", Place: Prompt, Keys: []string{"ctrl+home", "alt+<"}, Help: "the start of the text"},
	{Action: "text-end", Place: Prompt, Keys: []string{"ctrl+end", "alt+>"}, Help: "the end of the text"},
	{Action: "delete-line-right", Place: Prompt, Keys: []string{"ctrl+k"}, Help: "delete to the end of the line"},
	{Action: "delete-line-left", Place: Prompt, Keys: []string{"ctrl+u"}, Help: "delete to the start of the line"},
	{Action: "delete-blank-left", Place: Prompt, Keys: []string{"ctrl+w"}, Help: "delete back to the last blank"},
	{Action: "delete-word-left", Place: Prompt, Keys: []string{"alt+backspace", "ctrl+backspace"}, Help: "delete the word before"},
	{Action: "delete-word-right", Place: Prompt, Keys: []string{"alt+d", "ctrl+delete", "alt+delete"}, Help: "delete the word after"},

	{Action: "search-older", Place: Search, Keys: []string{"ctrl+r"}, Help: "an older match"},
	{Action: "search-scope", Place: Search, Keys: []string{"ctrl+s"}, Help: "in this project, or everywhere"},
	{Action: "search-delete", Place: Search, Keys: []string{"backspace", "ctrl+h"}, Help: "delete the last character"},
	{Action: "search-close", Place: Search, Keys: []string{"esc", "ctrl+g"}, Help: "restore the typed text", needed: true},

	{Action: "approve", Place: Question, Keys: []string{"y"}, Help: "yes", answers: true, needed: true},
	{Action: "approve-session", Place: Question, Keys: []string{"a"}, Help: "yes, and do not ask again for the same kind in this session", answers: true},
	{Action: "approve-always", Place: Question, Keys: []string{"A"}, Help: "edit the rule and its duration, then yes; commands that it covers no longer ask", answers: true},
	{Action: "reject", Place: Question, Keys: []string{"n"}, Help: "no, and stop", answers: true, needed: true},
	{Action: "answer-1", Place: Question, Keys: []string{"1"}, Help: "the first answer: yes", answers: true},
	{Action: "answer-2", Place: Question, Keys: []string{"2"}, Help: "the second answer: yes, for the session", answers: true},
	{Action: "answer-3", Place: Question, Keys: []string{"3"}, Help: "the third answer: no", answers: true},
	{Action: "comment", Place: Question, Keys: []string{"c"}, Help: "no, and tell the model why; it goes on"},
	{Action: "edit", Place: Question, Keys: []string{"e"}, Help: "edit the proposal in your own editor first"},
	{Action: "cancel", Place: Question, Keys: []string{"esc"}, Help: "leave a hunk, a file, the list of calls or the full view; otherwise stop the turn", answers: true},
	{Action: "expand", Place: Question, Keys: []string{"x"}, Help: "show all unchanged lines, or only those near changes"},
	{Action: "layout", Place: Question, Keys: []string{"s"}, Help: "the old and the new text side by side, or one below the other"},
	{Action: "revision", Place: Question, Keys: []string{"r"}, Help: "the change since the proposal that you refused with a reason, or that of the file"},
	{Action: "check-output", Place: Question, Keys: []string{"t"}, Help: "the output of the check that tried the proposal, or the change"},
	{Action: "editor", Place: Question, Keys: []string{"o"}, Help: "open it in the linked editor (again)"},
	{Action: "full", Place: Question, Keys: []string{"v"}, Help: "full view"},
	{Action: "full-close", Place: Question, Keys: []string{"q"}, Help: "leave the full view"},
	{Action: "queue", Place: Question, Keys: []string{"l"}, Help: "the calls of the answer, in a list"},
	{Action: "question-prompt", Place: Question, Keys: []string{"p"}, Help: "type at the prompt; Enter queues it, Esc goes back to the question"},
	{Action: "question-keys", Place: Question, Keys: []string{"?"}, Help: "show the other keys"},
	{Action: "hunk-next", Place: Question, Keys: []string{"]", "tab"}, Help: "the next hunk or file"},
	{Action: "hunk-previous", Place: Question, Keys: []string{"["}, Help: "the previous hunk or file"},
	{Action: "leave-out", Place: Question, Keys: []string{"space"}, Help: "leave the hunk or file out, or include it again; if none is marked, page down"},
	{Action: "note", Place: Question, Keys: []string{"m"}, Help: "a comment on the hunk or on a line of the plan, sent with the answer"},
	{Action: "answer-take", Place: Question, Keys: []string{"enter"}, Help: "take the highlighted answer, or open the file", answers: true},
	{Action: "file-open", Place: Question, Keys: []string{"right"}, Help: "highlight the next answer, or open the file"},
	{Action: "file-close", Place: Question, Keys: []string{"left", "backspace"}, Help: "highlight the previous answer, or go back to the list of files"},
	{Action: "question-up", Place: Question, Keys: []string{"up", "k"}, Help: "one line up"},
	{Action: "question-down", Place: Question, Keys: []string{"down", "j"}, Help: "one line down"},
	{Action: "question-page-up", Place: Question, Keys: []string{"pgup", "ctrl+u"}, Help: "one page up"},
	{Action: "question-page-down", Place: Question, Keys: []string{"pgdown", "ctrl+d"}, Help: "one page down"},
	{Action: "question-start", Place: Question, Keys: []string{"home", "g"}, Help: "the start"},
	{Action: "question-end", Place: Question, Keys: []string{"end", "G"}, Help: "the end"},

	{Action: "choose", Place: List, Keys: []string{"enter"}, Help: "take it", needed: true},
	{Action: "list-close", Place: List, Keys: []string{"esc", "ctrl+g"}, Help: "take none", needed: true},
	{Action: "list-up", Place: List, Keys: []string{"up", "ctrl+p"}, Help: "the one above"},
	{Action: "list-down", Place: List, Keys: []string{"down", "ctrl+n", "tab"}, Help: "the one below"},
	{Action: "list-page-up", Place: List, Keys: []string{"pgup"}, Help: "ten up"},
	{Action: "list-page-down", Place: List, Keys: []string{"pgdown"}, Help: "ten down"},
	{Action: "list-start", Place: List, Keys: []string{"home"}, Help: "the first"},
	{Action: "list-end", Place: List, Keys: []string{"end"}, Help: "the last"},
	{Action: "filter-delete", Place: List, Keys: []string{"backspace", "ctrl+h"}, Help: "delete the filter's last character"},
	{Action: "filter-clear", Place: List, Keys: []string{"ctrl+u"}, Help: "clear the filter"},

	{Action: "pager-close", Place: Pager, Keys: []string{"q", "esc", "ctrl+o"}, Help: "back to the prompt", needed: true},
	{Action: "pager-search", Place: Pager, Keys: []string{"/"}, Help: "search"},
	{Action: "pager-next", Place: Pager, Keys: []string{"n"}, Help: "the next match"},
	{Action: "pager-previous", Place: Pager, Keys: []string{"N"}, Help: "the match before"},
	{Action: "pager-up", Place: Pager, Keys: []string{"up", "k"}, Help: "one line up"},
	{Action: "pager-down", Place: Pager, Keys: []string{"down", "j", "enter"}, Help: "one line down"},
	{Action: "pager-page-up", Place: Pager, Keys: []string{"pgup", "b", "ctrl+b"}, Help: "one page up"},
	{Action: "pager-page-down", Place: Pager, Keys: []string{"pgdown", "f", "space", "ctrl+f"}, Help: "one page down"},
	{Action: "pager-half-up", Place: Pager, Keys: []string{"ctrl+u", "u"}, Help: "half a page up"},
	{Action: "pager-half-down", Place: Pager, Keys: []string{"ctrl+d", "d"}, Help: "half a page down"},
	{Action: "pager-start", Place: Pager, Keys: []string{"home", "g"}, Help: "the start"},
	{Action: "pager-end", Place: Pager, Keys: []string{"end", "G"}, Help: "the end"},
	{Action: "section-previous", Place: Pager, Keys: []string{"["}, Help: "the part before"},
	{Action: "section-next", Place: Pager, Keys: []string{"]"}, Help: "the part after"},
}
