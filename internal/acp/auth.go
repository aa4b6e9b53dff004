package acp

import "context"

// SetUpFlag makes agent acp ask for a model on a terminal instead of serving a host. The host
// adds it to the command line that starts us.
const SetUpFlag = "setup"

// setUp is the id of the only way to authenticate: to choose a model.
const setUp = "setup"

// authMethods returns the way to choose a model: a terminal that the host opens, or else one
// of the person's.
func authMethods(offered clientCapabilities) []authMethod {
	if offered.Auth.Terminal {
		return []authMethod{{
			ID: setUp, Name: "Choose a model", Type: "terminal", Args: []string{"--" + SetUpFlag},
			Description: "Asks in a terminal for a model, and for its key.",
		}}
	}
	return []authMethod{{
		ID: setUp, Name: "Check the model", Type: "agent",
		Description: "Run agent in a terminal first: it asks for a model, and for its key.",
	}}
}

// authenticate succeeds if a model can be used.
func (a *agent) authenticate(ctx context.Context, p authenticateParams) (any, error) {
	if p.MethodID != setUp {
		return nil, &Error{codeParams, "there is no such method to authenticate, only " + setUp}
	}
	return struct{}{}, a.opt.Ready(ctx)
}

// Unready makes err, with its advice, the error of Ready and Open if a person has to choose a
// model, enter its key or allow its server first: the host then offers the ways to authenticate.
func Unready(err error) error { return &Error{codeAuth, err.Error()} }
