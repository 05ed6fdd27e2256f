package httpapi

func (a *api) authRoutes() []route { return nil }
