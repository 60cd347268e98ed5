package hooks

func (rt *Runtime) promptTools(summary string) []ModelTool { return nil }
