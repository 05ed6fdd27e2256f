package httpapi

func (a *api) docsRoutes() []route { return nil }
