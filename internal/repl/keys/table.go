package keys

// The actions, by place.
const (
	Send            Action = "send"
	Newline         Action = "newline"
	Stop            Action = "stop"
	Leave           Action = "leave"
	Show            Action = "keys"
	Complete        Action = "complete"
	Answer          Action = "answer"
	Previous        Action = "previous"
	Next            Action = "next"
	History         Action = "history"
	Compose         Action = "compose"
	Image           Action = "image"
	UndoTyping      Action = "undo-typing"
	RedoTyping      Action = "redo-typing"
	Yank            Action = "yank"
	YankOlder       Action = "yank-older"
	DeleteLeft      Action = "delete-left"
	Delete          Action = "delete"
	Left            Action = "left"
	Right           Action = "right"
	WordLeft        Action = "word-left"
	WordRight       Action = "word-right"
	LineStart       Action = "line-start"
	LineEnd         Action = "line-end"
	TextStart       Action = "text-start"
	TextEnd         Action = "text-end"
	DeleteLineRight Action = "delete-line-right"
	DeleteLineLeft  Action = "delete-line-left"
	DeleteBlankLeft Action = "delete-blank-left"
	DeleteWordLeft  Action = "delete-word-left"
	DeleteWordRight Action = "delete-word-right"

	Interrupt Action = "interrupt"
	Mode      Action = "mode"
	Effort    Action = "effort"
	Whole     Action = "whole"
	Reprint   Action = "reprint"
	Suspend   Action = "suspend"

	Background Action = "background"

	SearchOlder  Action = "search-older"
	SearchScope  Action = "search-scope"
	SearchDelete Action = "search-delete"
	SearchClose  Action = "search-close"

	Approve          Action = "approve"
	ApproveSession   Action = "approve-session"
	ApproveAlways    Action = "approve-always"
	Reject           Action = "reject"
	Answer1          Action = "answer-1"
	Answer2          Action = "answer-2"
	Answer3          Action = "answer-3"
	Comment          Action = "comment"
	Edit             Action = "edit"
	Cancel           Action = "cancel"
	Expand           Action = "expand"
	Layout           Action = "layout"
	Revision         Action = "revision"
	CheckOutput      Action = "check-output"
	OpenEditor       Action = "editor"
	Full             Action = "full"
	FullClose        Action = "full-close"
	Calls            Action = "queue"
	ToPrompt         Action = "question-prompt"
	MoreKeys         Action = "question-keys"
	HunkNext         Action = "hunk-next"
	FileNext         Action = "file-next"
	HunkPrevious     Action = "hunk-previous"
	LeaveOut         Action = "leave-out"
	Note             Action = "note"
	Take             Action = "answer-take"
	FileOpen         Action = "file-open"
	FileClose        Action = "file-close"
	QuestionUp       Action = "question-up"
	QuestionDown     Action = "question-down"
	QuestionPageUp   Action = "question-page-up"
	QuestionPageDown Action = "question-page-down"
	QuestionStart    Action = "question-start"
	QuestionEnd      Action = "question-end"

	Choose       Action = "choose"
	ListClose    Action = "list-close"
	ListUp       Action = "list-up"
	ListDown     Action = "list-down"
	ListPageUp   Action = "list-page-up"
	ListPageDown Action = "list-page-down"
	ListStart    Action = "list-start"
	ListEnd      Action = "list-end"
	FilterDelete Action = "filter-delete"
	FilterClear  Action = "filter-clear"

	PagerClose      Action = "pager-close"
	PagerSearch     Action = "pager-search"
	PagerNext       Action = "pager-next"
	PagerPrevious   Action = "pager-previous"
	PagerUp         Action = "pager-up"
	PagerDown       Action = "pager-down"
	PagerPageUp     Action = "pager-page-up"
	PagerPageDown   Action = "pager-page-down"
	PagerHalfUp     Action = "pager-half-up"
	PagerHalfDown   Action = "pager-half-down"
	PagerStart      Action = "pager-start"
	PagerEnd        Action = "pager-end"
	SectionPrevious Action = "section-previous"
	SectionNext     Action = "section-next"
)

// table lists all keys in display order.
var table = []binding{
	{Action: Send, Place: Prompt, Keys: []string{"enter"}, Help: "send; with `\\` before it, a new line", Brief: "send", needed: true},
	{Action: Newline, Place: Prompt, Keys: []string{"alt+enter", "shift+enter", "ctrl+enter", "ctrl+j"}, Help: "a new line", Brief: "new line"},
	{Action: Stop, Place: Prompt, Keys: []string{"esc"}, Help: "close the list; stop the model; twice: clear the prompt or, if it is empty, go back to an earlier one", Brief: "stop; twice: go back", needed: true},
	{Action: Interrupt, Place: Everywhere, Keys: []string{"ctrl+c"}, Help: "clear the prompt or stop the model; then exit", Brief: "clear; twice: exit", fixed: true},
	{Action: Leave, Place: Prompt, Keys: []string{"ctrl+d"}, Help: "exit, if the prompt is empty", Brief: "exit", own: true},
	{Action: Mode, Place: Everywhere, Keys: []string{"shift+tab"}, Help: "the next permission mode", Brief: "permission mode"},
	{Action: Effort, Place: Everywhere, Keys: []string{"ctrl+t"}, Help: "how much the model thinks, from the next prompt on: low, medium, high, its default", Brief: "the model's effort", own: true},
	{Action: Whole, Place: Everywhere, Keys: []string{"ctrl+o"}, Help: "the full conversation in the pager, including folded output and reasoning", Brief: "show everything", own: true},
	{Action: Reprint, Place: Everywhere, Keys: []string{"ctrl+l"}, Help: "clear the screen and print the conversation again at the current width"},
	{Action: Suspend, Place: Everywhere, Keys: []string{"ctrl+z"}, Help: "suspend the program (Unix)"},
	{Action: Background, Place: Prompt, Keys: []string{"ctrl+b"}, Help: "move the running command to the background; if none runs, one character to the left", Brief: "command to background", own: true},
	{Action: Show, Place: Prompt, Keys: []string{"?"}, Help: "the keys, if the prompt is empty", own: true},
	{Action: Complete, Place: Prompt, Keys: []string{"tab"}, Help: "insert the selected entry of the list", Brief: "complete"},
	{Action: Answer, Place: Prompt, Keys: []string{"tab"}, Help: "answer the question above the draft", own: true, needed: true},
	{Action: Previous, Place: Prompt, Keys: []string{"up", "ctrl+p"}, Help: "the line above; what is queued; an older prompt; in a list, the one above", Brief: "older prompt"},
	{Action: Next, Place: Prompt, Keys: []string{"down", "ctrl+n"}, Help: "the line below; a newer prompt; in a list, the one below"},
	{Action: History, Place: Prompt, Keys: []string{"ctrl+r"}, Help: "search earlier prompts", Brief: "search older prompts"},
	{Action: Compose, Place: Prompt, Keys: []string{"ctrl+g"}, Help: "write the prompt in your own editor", Brief: "your editor", own: true},

	{Action: Image, Place: Prompt, Keys: []string{"ctrl+v"}, Help: "attach the image in the clipboard", own: true},

	{Action: UndoTyping, Place: Prompt, Keys: []string{"ctrl+_", "ctrl+/", "ctrl+shift+-", "ctrl+7"}, Help: "undo the last edit", Brief: "undo typing"},
	{Action: RedoTyping, Place: Prompt, Keys: []string{"alt+_", "alt+/", "ctrl+alt+_", "alt+shift+-", "ctrl+alt+-"}, Help: "do it again"},
	{Action: Yank, Place: Prompt, Keys: []string{"ctrl+y"}, Help: "insert the last deleted line or word"},
	{Action: YankOlder, Place: Prompt, Keys: []string{"alt+y"}, Help: "then replace it with an older one"},
	{Action: DeleteLeft, Place: Prompt, Keys: []string{"backspace", "ctrl+h", "shift+backspace"}, Help: "delete the character before"},
	{Action: Delete, Place: Prompt, Keys: []string{"delete", "ctrl+d"}, Help: "delete the character under the cursor"},
	{Action: Left, Place: Prompt, Keys: []string{"left", "ctrl+b"}, Help: "one character to the left"},
	{Action: Right, Place: Prompt, Keys: []string{"right", "ctrl+f"}, Help: "one character to the right"},
	{Action: WordLeft, Place: Prompt, Keys: []string{"alt+b", "ctrl+left", "alt+left"}, Help: "one word to the left"},
	{Action: WordRight, Place: Prompt, Keys: []string{"alt+f", "ctrl+right", "alt+right"}, Help: "one word to the right"},
	{Action: LineStart, Place: Prompt, Keys: []string{"home", "ctrl+a"}, Help: "the start of the line"},
	{Action: LineEnd, Place: Prompt, Keys: []string{"end", "ctrl+e"}, Help: "the end of the line"},
	{Action: TextStart, Place: Prompt, Keys: []string{"ctrl+home", "alt+<"}, Help: "the start of the text"},
	{Action: TextEnd, Place: Prompt, Keys: []string{"ctrl+end", "alt+>"}, Help: "the end of the text"},
	{Action: DeleteLineRight, Place: Prompt, Keys: []string{"ctrl+k"}, Help: "delete to the end of the line"},
	{Action: DeleteLineLeft, Place: Prompt, Keys: []string{"ctrl+u"}, Help: "delete to the start of the line"},
	{Action: DeleteBlankLeft, Place: Prompt, Keys: []string{"ctrl+w"}, Help: "delete back to the last blank"},
	{Action: DeleteWordLeft, Place: Prompt, Keys: []string{"alt+backspace", "ctrl+backspace"}, Help: "delete the word before"},
	{Action: DeleteWordRight, Place: Prompt, Keys: []string{"alt+d", "ctrl+delete", "alt+delete"}, Help: "delete the word after"},

	{Action: SearchOlder, Place: Search, Keys: []string{"ctrl+r"}, Help: "an older match"},
	{Action: SearchScope, Place: Search, Keys: []string{"ctrl+s"}, Help: "in this project, or everywhere"},
	{Action: SearchDelete, Place: Search, Keys: []string{"backspace", "ctrl+h"}, Help: "delete the last character"},
	{Action: SearchClose, Place: Search, Keys: []string{"esc", "ctrl+g"}, Help: "restore the typed text", needed: true},

	{Action: Approve, Place: Question, Keys: []string{"y"}, Help: "yes", answers: true, needed: true},
	{Action: ApproveSession, Place: Question, Keys: []string{"a"}, Help: "yes, and do not ask again for the same kind in this session", answers: true},
	{Action: ApproveAlways, Place: Question, Keys: []string{"A"}, Help: "edit the rule and its duration, then yes; commands that it covers no longer ask", answers: true},
	{Action: Reject, Place: Question, Keys: []string{"n"}, Help: "no, and stop", answers: true, needed: true},
	{Action: Answer1, Place: Question, Keys: []string{"1"}, Help: "the first answer: yes", answers: true},
	{Action: Answer2, Place: Question, Keys: []string{"2"}, Help: "the second answer: yes, for the session", answers: true},
	{Action: Answer3, Place: Question, Keys: []string{"3"}, Help: "the third answer: no", answers: true},
	{Action: Comment, Place: Question, Keys: []string{"c"}, Help: "no, and tell the model why; it continues"},
	{Action: Edit, Place: Question, Keys: []string{"e"}, Help: "edit the proposal in your own editor first"},
	{Action: Cancel, Place: Question, Keys: []string{"esc"}, Help: "close a hunk, a file, the list of calls or the full view; otherwise stop the turn", answers: true},
	{Action: Expand, Place: Question, Keys: []string{"x"}, Help: "show all unchanged lines, or only those near changes"},
	{Action: Layout, Place: Question, Keys: []string{"s"}, Help: "the old and the new text side by side, or one below the other"},
	{Action: Revision, Place: Question, Keys: []string{"r"}, Help: "the change since the proposal that you refused with a reason, or that of the file"},
	{Action: CheckOutput, Place: Question, Keys: []string{"t"}, Help: "the output of the check that tried the proposal, or the change"},
	{Action: OpenEditor, Place: Question, Keys: []string{"o"}, Help: "open it in the linked editor (again)"},
	{Action: Full, Place: Question, Keys: []string{"v"}, Help: "full view"},
	{Action: FullClose, Place: Question, Keys: []string{"q"}, Help: "close the full view"},
	{Action: Calls, Place: Question, Keys: []string{"l"}, Help: "the calls of the answer, in a list"},
	{Action: ToPrompt, Place: Question, Keys: []string{"p"}, Help: "type at the prompt; Enter queues it, Esc goes back to the question"},
	{Action: MoreKeys, Place: Question, Keys: []string{"?"}, Help: "show the other keys"},
	{Action: HunkNext, Place: Question, Keys: []string{"]"}, Help: "the next hunk or file"},
	{Action: FileNext, Place: Question, Keys: []string{"tab"}, Help: "the next file or, if there is one, the next hunk"},
	{Action: HunkPrevious, Place: Question, Keys: []string{"["}, Help: "the previous hunk or file"},
	{Action: LeaveOut, Place: Question, Keys: []string{"space"}, Help: "leave out the hunk or file, or include it again; if none is marked, page down"},
	{Action: Note, Place: Question, Keys: []string{"m"}, Help: "a comment on the hunk or on a line of the plan, sent with the answer"},
	{Action: Take, Place: Question, Keys: []string{"enter"}, Help: "take the highlighted answer, or open the file", answers: true},
	{Action: FileOpen, Place: Question, Keys: []string{"right"}, Help: "highlight the next answer, or open the file"},
	{Action: FileClose, Place: Question, Keys: []string{"left", "backspace"}, Help: "highlight the previous answer, or go back to the list of files"},
	{Action: QuestionUp, Place: Question, Keys: []string{"up", "k"}, Help: "one line up"},
	{Action: QuestionDown, Place: Question, Keys: []string{"down", "j"}, Help: "one line down"},
	{Action: QuestionPageUp, Place: Question, Keys: []string{"pgup", "ctrl+u"}, Help: "one page up"},
	{Action: QuestionPageDown, Place: Question, Keys: []string{"pgdown", "ctrl+d"}, Help: "one page down"},
	{Action: QuestionStart, Place: Question, Keys: []string{"home", "g"}, Help: "the start"},
	{Action: QuestionEnd, Place: Question, Keys: []string{"end", "G"}, Help: "the end"},

	{Action: Choose, Place: List, Keys: []string{"enter"}, Help: "choose it", needed: true},
	{Action: ListClose, Place: List, Keys: []string{"esc", "ctrl+g"}, Help: "choose nothing", needed: true},
	{Action: ListUp, Place: List, Keys: []string{"up", "ctrl+p"}, Help: "the one above"},
	{Action: ListDown, Place: List, Keys: []string{"down", "ctrl+n", "tab"}, Help: "the one below"},
	{Action: ListPageUp, Place: List, Keys: []string{"pgup"}, Help: "ten up"},
	{Action: ListPageDown, Place: List, Keys: []string{"pgdown"}, Help: "ten down"},
	{Action: ListStart, Place: List, Keys: []string{"home"}, Help: "the first"},
	{Action: ListEnd, Place: List, Keys: []string{"end"}, Help: "the last"},
	{Action: FilterDelete, Place: List, Keys: []string{"backspace", "ctrl+h"}, Help: "delete the filter's last character"},
	{Action: FilterClear, Place: List, Keys: []string{"ctrl+u"}, Help: "clear the filter"},

	{Action: PagerClose, Place: Pager, Keys: []string{"q", "esc", "ctrl+o"}, Help: "back to the prompt", needed: true},
	{Action: PagerSearch, Place: Pager, Keys: []string{"/"}, Help: "search"},
	{Action: PagerNext, Place: Pager, Keys: []string{"n"}, Help: "the next match"},
	{Action: PagerPrevious, Place: Pager, Keys: []string{"N"}, Help: "the match before"},
	{Action: PagerUp, Place: Pager, Keys: []string{"up", "k"}, Help: "one line up"},
	{Action: PagerDown, Place: Pager, Keys: []string{"down", "j", "enter"}, Help: "one line down"},
	{Action: PagerPageUp, Place: Pager, Keys: []string{"pgup", "b", "ctrl+b"}, Help: "one page up"},
	{Action: PagerPageDown, Place: Pager, Keys: []string{"pgdown", "f", "space", "ctrl+f"}, Help: "one page down"},
	{Action: PagerHalfUp, Place: Pager, Keys: []string{"ctrl+u", "u"}, Help: "half a page up"},
	{Action: PagerHalfDown, Place: Pager, Keys: []string{"ctrl+d", "d"}, Help: "half a page down"},
	{Action: PagerStart, Place: Pager, Keys: []string{"home", "g"}, Help: "the start"},
	{Action: PagerEnd, Place: Pager, Keys: []string{"end", "G"}, Help: "the end"},
	{Action: SectionPrevious, Place: Pager, Keys: []string{"["}, Help: "the part before"},
	{Action: SectionNext, Place: Pager, Keys: []string{"]"}, Help: "the part after"},
}
