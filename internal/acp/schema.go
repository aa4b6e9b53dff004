package acp

import "encoding/json"

// protocol is the version of the Agent Client Protocol.
const protocol = 1

// The messages of the protocol, as far as they are used here.
type (
	initializeParams struct {
		ProtocolVersion    int                `json:"protocolVersion"`
		ClientCapabilities clientCapabilities `json:"clientCapabilities"`
	}
	clientCapabilities struct {
		FS struct {
			ReadTextFile  bool `json:"readTextFile"`
			WriteTextFile bool `json:"writeTextFile"`
		} `json:"fs"`
		Terminal bool `json:"terminal"`
		Auth     struct {
			Terminal bool `json:"terminal"`
		} `json:"auth"`
		Elicitation struct {
			Form *struct{} `json:"form"`
		} `json:"elicitation"`
	}
	formParams struct {
		Mode      string     `json:"mode"` // form
		SessionID string     `json:"sessionId"`
		CallID    string     `json:"toolCallId"`
		Message   string     `json:"message"`
		Schema    formSchema `json:"requestedSchema"`
	}
	formSchema struct {
		Type       string               `json:"type"`
		Properties map[string]formField `json:"properties"`
	}
	formField struct {
		Type  string `json:"type"`
		Title string `json:"title"`
	}
	formResult struct {
		Action  string         `json:"action"`
		Content map[string]any `json:"content"`
	}
	fileParams struct {
		SessionID string  `json:"sessionId"`
		Path      string  `json:"path"`
		Content   *string `json:"content,omitempty"` // to write
	}
	fileResult struct {
		Content string `json:"content"`
	}
	terminalParams struct {
		SessionID       string   `json:"sessionId"`
		TerminalID      string   `json:"terminalId,omitempty"`
		Command         string   `json:"command,omitempty"` // to create one, like the rest
		Args            []string `json:"args,omitempty"`
		Env             []pair   `json:"env,omitempty"`
		Cwd             string   `json:"cwd,omitempty"`
		OutputByteLimit int      `json:"outputByteLimit,omitempty"`
	}
	terminalResult struct {
		ID        string `json:"terminalId"` // of a new one
		Output    string `json:"output"`
		Truncated bool   `json:"truncated"`
	}
	terminalExit struct {
		ExitCode *int    `json:"exitCode"`
		Signal   *string `json:"signal"`
	}
	initializeResult struct {
		ProtocolVersion   int          `json:"protocolVersion"`
		AgentCapabilities capabilities `json:"agentCapabilities"`
		AgentInfo         info         `json:"agentInfo"`
		AuthMethods       []authMethod `json:"authMethods"`
	}
	authMethod struct {
		ID          string   `json:"id"`
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Type        string   `json:"type"` // terminal or agent
		Args        []string `json:"args,omitempty"`
	}
	authenticateParams struct {
		MethodID string `json:"methodId"`
	}
	capabilities struct {
		LoadSession         bool                `json:"loadSession"`
		PromptCapabilities  promptCapabilities  `json:"promptCapabilities"`
		MCPCapabilities     mcpCapabilities     `json:"mcpCapabilities"`
		SessionCapabilities map[string]struct{} `json:"sessionCapabilities"`
	}
	promptCapabilities struct {
		Image           bool `json:"image"`
		Audio           bool `json:"audio"`
		EmbeddedContext bool `json:"embeddedContext"`
	}
	mcpCapabilities struct {
		HTTP bool `json:"http"`
		SSE  bool `json:"sse"`
	}
	info struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}

	sessionParams struct {
		SessionID  string      `json:"sessionId"` // of session/load
		Cwd        string      `json:"cwd"`
		MCPServers []mcpServer `json:"mcpServers"`
		// Further folders that may be read and changed, absolute.
		AddDirs []string `json:"additionalDirectories"`
	}
	mcpServer struct {
		Type    string   `json:"type"`
		Name    string   `json:"name"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Env     []pair   `json:"env"`
		URL     string   `json:"url"`
		Headers []pair   `json:"headers"`
	}
	pair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	sessionResult struct {
		SessionID     string         `json:"sessionId,omitempty"` // of session/new
		Modes         modes          `json:"modes"`
		ConfigOptions []configOption `json:"configOptions"`
	}
	modes struct {
		CurrentModeID  string `json:"currentModeId"`
		AvailableModes []mode `json:"availableModes"`
	}
	mode struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}
	listParams struct {
		Cwd string `json:"cwd"`
	}
	listResult struct {
		Sessions []listed `json:"sessions"`
	}
	listed struct {
		SessionID string `json:"sessionId"`
		Cwd       string `json:"cwd"`
		Title     string `json:"title,omitempty"`
		UpdatedAt string `json:"updatedAt,omitempty"`
	}

	promptParams struct {
		SessionID string  `json:"sessionId"`
		Prompt    []block `json:"prompt"`
	}
	promptResult struct {
		StopReason string `json:"stopReason"`
	}
	configOption struct {
		ID           string        `json:"id"`
		Name         string        `json:"name"`
		Category     string        `json:"category"`
		Type         string        `json:"type"` // select
		CurrentValue string        `json:"currentValue"`
		Options      []configValue `json:"options"`
	}
	configValue struct {
		Value       string `json:"value"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}
	optionParams struct {
		SessionID string `json:"sessionId"`
		ConfigID  string `json:"configId"`
		Value     string `json:"value"`
	}
	configOptions struct {
		Kind          string         `json:"sessionUpdate,omitempty"` // config_option_update
		ConfigOptions []configOption `json:"configOptions"`
	}
	modeParams struct {
		SessionID string `json:"sessionId"`
		ModeID    string `json:"modeId"`
	}
	onSession struct {
		SessionID string `json:"sessionId"`
	}

	// block is a piece of content.
	block struct {
		Type     string    `json:"type"`
		Text     string    `json:"text,omitempty"`
		URI      string    `json:"uri,omitempty"`
		Name     string    `json:"name,omitempty"`
		Data     []byte    `json:"data,omitempty"` // of an image
		MimeType string    `json:"mimeType,omitempty"`
		Resource *resource `json:"resource,omitempty"`
	}
	resource struct {
		URI      string  `json:"uri"`
		MimeType string  `json:"mimeType,omitempty"`
		Text     *string `json:"text,omitempty"`
		Blob     []byte  `json:"blob,omitempty"`
	}

	updateParams struct {
		SessionID string `json:"sessionId"`
		Update    any    `json:"update"`
	}
	chunk struct {
		Kind    string `json:"sessionUpdate"` // …_message_chunk or agent_thought_chunk
		Content block  `json:"content"`
	}
	toolCall struct {
		Kind      string          `json:"sessionUpdate,omitempty"` // tool_call or tool_call_update
		ID        string          `json:"toolCallId"`
		Title     string          `json:"title,omitempty"`
		ToolKind  string          `json:"kind,omitempty"`
		Status    string          `json:"status,omitempty"`
		Content   []callContent   `json:"content,omitempty"`
		Locations []location      `json:"locations,omitempty"`
		RawInput  json.RawMessage `json:"rawInput,omitempty"`
	}
	callContent struct {
		Type       string  `json:"type"` // content, diff or terminal
		Content    *block  `json:"content,omitempty"`
		TerminalID string  `json:"terminalId,omitempty"`
		Path       string  `json:"path,omitempty"`
		OldText    *string `json:"oldText,omitempty"`
		NewText    *string `json:"newText,omitempty"`
	}
	location struct {
		Path string `json:"path"`
	}
	plan struct {
		Kind    string      `json:"sessionUpdate"` // plan
		Entries []planEntry `json:"entries"`
	}
	planEntry struct {
		Content  string `json:"content"`
		Priority string `json:"priority"`
		Status   string `json:"status"`
	}
	modeUpdate struct {
		Kind string `json:"sessionUpdate"` // current_mode_update
		ID   string `json:"currentModeId"`
	}

	commandsUpdate struct {
		Kind     string             `json:"sessionUpdate"` // available_commands_update
		Commands []availableCommand `json:"availableCommands"`
	}
	availableCommand struct {
		Name        string        `json:"name"`
		Description string        `json:"description"`
		Input       *commandInput `json:"input,omitempty"`
	}
	commandInput struct {
		Hint string `json:"hint"`
	}
	usageUpdate struct {
		Kind string `json:"sessionUpdate"` // usage_update
		Used int64  `json:"used"`          // tokens
		Size int64  `json:"size"`
		Cost *cost  `json:"cost,omitempty"`
	}
	cost struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	}
	infoUpdate struct {
		Kind      string `json:"sessionUpdate"` // session_info_update
		Title     string `json:"title"`
		UpdatedAt string `json:"updatedAt"`
	}

	permissionParams struct {
		SessionID string   `json:"sessionId"`
		ToolCall  toolCall `json:"toolCall"`
		Options   []option `json:"options"`
	}
	option struct {
		ID   string `json:"optionId"`
		Name string `json:"name"`
		Kind string `json:"kind"` // allow_once, allow_always or reject_once
	}
	permissionResult struct {
		Outcome struct {
			Outcome  string `json:"outcome"` // selected or cancelled
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
)
