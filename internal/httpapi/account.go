package httpapi

func (a *api) accountRoutes() []route { return nil }
