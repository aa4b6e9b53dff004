package main

// goal is one thing that the tests hold, in plain words, with the load that it asks for.
// A goal without tests has not been run.
type goal struct {
	words string
	load  string
	tests []name
}

// name is a test in a package of the module, or in the extension.
type name struct{ pkg, test string }

// extension is the folder of the tests in TypeScript.
const extension = "editors/vscode"

// goals lists the goals.
var goals = []struct {
	part  string
	goals []goal
}{
	{"What runs and what is written without an answer", []goal{
		{"A repository that nobody has trusted yet starts no program, opens no connection and has nothing written, on a plain terminal, in tmux and in VS Code's terminal", "200 repositories", []name{{"cmd/agent", "TestHostileRepositories"}, {"cmd/agent", "TestHostileRepositoriesBite"}}},
		{"No way to start the program starts another one before trust", "31 ways in 4 terminals", []name{{"cmd/agent", "TestNothingRunsBeforeTrust"}}},
		{"A project's settings set no key, address, program or permission", "every key", []name{{"internal/config", "TestAProjectSetsOnlyWhatItMay"}, {"internal/config", "TestTheKeysOfAProjectAreKeys"}, {"internal/config", "TestAProjectSendsNoKeyElsewhere"}}},
		{"Trust is for the folder itself and for its files as they were shown", "", []name{{"internal/app/trust", "TestAnswersAreForTheFolderItself"}, {"internal/app/trust", "TestEveryChangeShows"}}},
	}},
	{"Commands", []goal{
		{"No command of the corpus that does more than read runs unasked; those that are hard to undo are marked", "169 lines", []name{{"internal/tools/shell/safecmd", "TestLines"}}},
		{"No other way to write a command is classed lower", "12 rewrites of each line; 100,000 combinations", []name{{"internal/tools/shell/safecmd", "TestRewrites"}, {"internal/tools/shell/safecmd", "TestDeepRewrites"}}},
		{"Commands that run unasked write nothing, connect to nothing and start nothing else when they are really run", "2,000 lines", []name{{"internal/tools/shell/safecmd", "TestSafeLinesOnlyRead"}, {"internal/tools/shell/safecmd", "TestTheTraceFindsEffects"}}},
		{"No line crashes or delays the check, or hides a dangerous command from it", "1,000,000 lines", []name{{"internal/tools/shell/safecmd", "TestRandomLines"}, {"internal/tools/shell/safecmd", "TestHugeLines"}}},
		{"No unsafe call of five working days, each labeled by hand, is answered without a person", "5 days of 100 to 300 calls", []name{{"internal/app/replay", "TestWorkingDays"}}},
		{"A command does not get out of the sandbox, and gets out without it", "60 escapes", []name{{"internal/sandbox", "TestEscapes"}, {"cmd/agent", "TestSandboxEscapes"}}},
	}},
	{"Answers", []goal{
		{"A question has one outcome, whatever a terminal and two windows answer, how often, how late and to what; the file, the transcript and the model agree on it", "1,000,000 interleavings", []name{{"internal/ide", "TestInterleavings"}}},
		{"The same for reviewers that fail, leave, come and cancel", "1,000,000 interleavings", []name{{"internal/confirm", "TestOneOutcome"}}},
		{"Two answers within 5 ms through real sockets have one effect", "20,000 races", []name{{"internal/ide", "TestDoubleAnswers"}}},
		{"A file that another program changes between the question and the write keeps that change; the gap that is left is shorter than a millisecond", "10,000 intrusions", []name{{"internal/workspace", "TestRandomIntruders"}, {"internal/workspace", "TestChangedFileIsNeverOverwritten"}}},
		{"What is written is what was shown", "", []name{{"internal/tools", "TestInvariantsI2I3"}, {"cmd/agent", "TestYesWritesWhatWasShown"}, {"cmd/agent", "TestWhatIsShownIsWhatIsWritten"}}},
	}},
	{"Text and keys", []goal{
		{"Text that is not ours does not control the terminal, however its stream is cut", "", []name{{"internal/sanitize", "TestOutputIsSafeHoweverItIsCut"}, {"cmd/agent", "TestHostileTextDoesNotReachTheTerminal"}}},
		{"A key reaches no child process", "", []name{{"internal/tools/shell", "TestNoKeyInAnyChild"}, {"cmd/agent", "TestCommandsCannotReadOurEnvironment"}}},
		{"A program that is not the editor gets no secret, and its answers do not count", "", []name{{"internal/ide/wire", "TestSecretIsNeverSent"}, {"internal/ide/wire", "TestStrangerIsToldNothing"}, {"internal/ide/wire", "TestWrongProofsOfEditors"}, {"internal/ide/wire", "TestWrongProofsOfAgents"}}},
	}},
	{"Durability", []goal{
		{"A kill leaves a file old or new, never torn", "100,000 kills", []name{{"internal/workspace", "TestKilledSessionLosesNothing"}}},
		{"So does a fault or a kill at each system call of a write", "5,000 points", []name{{"internal/workspace", "TestEachCallOfACommit"}}},
		{"So does power lost at any of them", "20,000 states", []name{{"internal/workspace", "TestPowerFailure"}}},
		{"Bytes outside an edit, and the file's metadata, are kept", "3,000 files", []name{{"internal/workspace", "TestBytesOutsideTheEditAreKept"}, {"internal/workspace", "TestMetadataIsKept"}}},
		{"Undo and redo restore the exact bytes", "10,000 sequences", []name{{"internal/workspace/undo", "TestRandomEditsUndosAndRewinds"}}},
		{"A killed session keeps each message that was written", "10,000 kills", []name{{"internal/session/archive", "TestKilledWriter"}}},
	}},
	{"Models, editors and processes", []goal{
		{"Each call of a model has exactly one result, whatever fails", "10,000 conversations", []name{{"internal/session", "TestInvariantI1"}, {"internal/session", "TestEveryWire"}}},
		{"Limits of turns, tokens and cost hold before a request", "", []name{{"internal/session", "TestLimitsHoldBeforeARequest"}}},
		{"Two agents that share an editor never write each other's text", "1,000 rounds of each editor", []name{{"internal/ide", "TestTwoAgentsOneEditor"}}},
		{"Whatever ends the program, the terminal is as before", "1,000 exits", []name{{"cmd/agent", "TestExits"}, {"cmd/agent", "TestPanics"}}},
		{"No command outlives the program", "2,000 trees of processes", []name{{"cmd/agent", "TestKilledProgramLeavesNoCommand"}, {"internal/tools/shell", "TestKilledProgramLeavesNothing"}, {"internal/tools/shell", "TestTreeEndsOnTimeoutAndCancel"}}},
		{"The extension's server takes no connection without a proof", "10,000 handshakes", []name{{extension, "by guesses"}}},
		{"Three days of use lose no memory, goroutine or file", "20,000 turns", []name{{"cmd/agent", "TestThreeDays"}}},
	}},
}

// absent are mechanisms of published attacks that do not apply to this program.
var absent = []struct{ mechanism, why string }{
	{"Servers on localhost open to any page or to DNS rebinding (CVE-2025-52882, CVE-2025-66414, CVE-2025-66416, CVE-2026-34742)", "the agent itself listens on no port, except while a person logs in to an MCP server: then the one page there takes an answer that repeats the secret state; the extension for VS Code does, and its own tests, in TypeScript and not in this report, try origins, hosts and missing proofs"},
	{"Unauthenticated servers of agents and inspectors (CVE-2025-49596, CVE-2026-22812)", "the agent takes no requests over the network: hosts speak to it by its standard input"},
	{"Settings scanned for in another option's value (a link handler)", "no link is handled, and one parser reads the arguments"},
	{"NUL bytes in a proxy's host name", "the agent is no proxy, and every command that can reach the network asks"},
	{"Images fetched while Markdown is drawn", "the terminal draws no images of Markdown, and fetches nothing"},
	{"Hostile extensions in the editor", "an extension can do anything that the person can: it is inside the trust boundary"},
	{"The directory of a command chosen by the model (CVE-2025-59532)", "a folder outside the workspace asks, and widens nothing"},
}
