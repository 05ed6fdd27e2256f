package mapdata

// Actor is the caller of an operation on feeds, apps and pins. The zero Actor is a guest, who has no rights.
type Actor struct {
	account  AccountID
	email    string
	reviews  bool
	operator bool
}

// ActorOf returns the actor for an account.
func ActorOf(a *Account) Actor {
	return Actor{account: a.ID, email: a.Email, reviews: a.MayReview()}
}

// Operator returns the actor for the user of the command line, who may review and see every feed. The audit log records no account for it.
func Operator() Actor { return Actor{reviews: true, operator: true} }

// MayReview reports whether the actor may decide on what other accounts own.
func (a Actor) MayReview() bool { return a.reviews }

// IsOperator reports whether the actor is the user of the command line.
func (a Actor) IsOperator() bool { return a.operator }

// Account returns the actor's account; zero: a guest or the operator.
func (a Actor) Account() AccountID { return a.account }

// Email returns the address of the actor's account; empty: a guest or the operator.
func (a Actor) Email() string { return a.email }
