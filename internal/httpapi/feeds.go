package httpapi

func (a *api) feedRoutes() []route { return nil }
