package feeds

import (
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/account"
)

// routes returns the API's resources of feeds: their registration, rows, review and maintainers, and those with which curators remove or
// hide content.
func (a *api) routes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.NewRoute(http.MethodGet, "/v2/sources/{id}/entities", httpapi.ClassRead, account.ForGuests, a.getSourceEntities),
		httpapi.NewRoute(http.MethodGet, "/v2/feeds", httpapi.ClassAccount, account.ForAccounts, a.getFeeds),
		httpapi.NewRoute(http.MethodPost, "/v2/feeds", httpapi.ClassAccount, account.ForAccounts, a.postFeed),
		httpapi.NewRoute(http.MethodGet, "/v2/feeds/{id}", httpapi.ClassAccount, account.ForOwnersAndCurators, a.getFeed),
		httpapi.NewRoute(http.MethodPatch, "/v2/feeds/{id}", httpapi.ClassAccount, account.ForOwners, a.patchFeed),
		httpapi.NewRoute(http.MethodDelete, "/v2/feeds/{id}", httpapi.ClassAccount, account.ForOwnersAlone, a.deleteFeed),
		httpapi.NewRoute(http.MethodGet, "/v2/feeds/{id}/votes", httpapi.ClassAccount, account.ForOwnersAndCurators, a.getFeedVotes),
		httpapi.NewRoute(http.MethodGet, feedEntitiesPath, httpapi.ClassAccount, account.ForOwnersAndCurators, a.getFeedEntities),
		httpapi.NewRoute(http.MethodPost, "/v2/feeds/{id}/rotate-token", httpapi.ClassAccount, account.ForOwners, a.postRotateToken),
		httpapi.NewRoute(http.MethodPost, "/v2/feeds/{token}/entities", httpapi.ClassPush, account.ForTokens, a.postEntities),
		httpapi.NewRoute(http.MethodGet, "/v2/review/feeds", httpapi.ClassAccount, account.ForCurators, a.getReviewFeeds),
		httpapi.NewRoute(http.MethodPost, "/v2/feeds/{id}/approve", httpapi.ClassAccount, account.ForCurators, a.postApprove),
		httpapi.NewRoute(http.MethodPost, "/v2/feeds/{id}/reject", httpapi.ClassAccount, account.ForCurators, a.postReject),

		httpapi.NewRoute(http.MethodGet, "/v2/feeds/{id}/maintainers", httpapi.ClassAccount, account.ForOwners, a.getMaintainers),
		httpapi.NewRoute(http.MethodPost, "/v2/feeds/{id}/maintainers", httpapi.ClassAccount, account.ForOwnersAlone, a.postInvitation(mapdata.InvitedToMaintain)),
		httpapi.NewRoute(http.MethodDelete, "/v2/feeds/{id}/maintainers/{account}", httpapi.ClassAccount, account.ForOwners, a.deleteMaintainer),
		httpapi.NewRoute(http.MethodPost, "/v2/feeds/{id}/transfer", httpapi.ClassAccount, account.ForOwnersAlone, a.postInvitation(mapdata.InvitedToTransfer)),

		httpapi.NewRoute(http.MethodGet, "/v2/invitations", httpapi.ClassAccount, account.ForAccounts, a.getInvitations),
		httpapi.NewRoute(http.MethodPost, "/v2/invitations/{id}/accept", httpapi.ClassAccount, account.ForOwners, a.postAccept),
		httpapi.NewRoute(http.MethodDelete, "/v2/invitations/{id}", httpapi.ClassAccount, account.ForOwners, a.deleteInvitation),

		httpapi.NewRoute(http.MethodPost, "/v2/entities/{id}/hide", httpapi.ClassAccount, account.ForCurators, a.postHide),
		httpapi.NewRoute(http.MethodPost, "/v2/entities/{id}/show", httpapi.ClassAccount, account.ForCurators, a.postShow),
		httpapi.NewRoute(http.MethodGet, "/v2/review/pins", httpapi.ClassAccount, account.ForCurators, a.getReviewPins),
		httpapi.NewRoute(http.MethodGet, "/v2/feeds/{id}/hidden", httpapi.ClassAccount, account.ForOwnersAndCurators, a.getFeedHidden),

		httpapi.NewRoute(http.MethodPost, "/v2/feeds/{id}/pause", httpapi.ClassAccount, account.ForCurators, a.postPause),
		httpapi.NewRoute(http.MethodPost, "/v2/feeds/{id}/resume", httpapi.ClassAccount, account.ForCurators, a.postResume),
		httpapi.NewRoute(http.MethodPost, "/v2/feeds/{id}/remove", httpapi.ClassAccount, account.ForCurators, a.postRemove),

		httpapi.NewRoute(http.MethodPost, "/v2/entities/{id}/complaint", httpapi.ClassVote, account.ForScreens, a.postComplaint),
		httpapi.NewRoute(http.MethodGet, "/v2/review/complaints", httpapi.ClassAccount, account.ForCurators, a.getReviewComplaints),
		httpapi.NewRoute(http.MethodPost, "/v2/review/complaints/{id}/close", httpapi.ClassAccount, account.ForCurators, a.postCloseComplaint),
	}
}
