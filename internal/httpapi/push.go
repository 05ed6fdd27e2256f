package httpapi

func (a *api) pushRoutes() []route { return nil }
