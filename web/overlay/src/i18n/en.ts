// All texts of the page, in English. Their keys and placeholders are required of every other language at compile time.
//
// Texts are for drivers: short, without exclamation marks, and readable at a glance. Names in braces are placeholders.

export const en = {
  // Everywhere
  "do.close": "Close",
  "do.back": "Back",
  "do.reset": "Reset",
  "state.on": "On",
  "state.off": "Off",
  "state.loading": "Loading …",

  // Buttons on the map, and names of regions for screen readers
  "map.label": "Map",
  "map.recentre": "My position",
  "map.headingUp": "Heading up",
  "map.northUp": "North up",
  "map.zoomIn": "Zoom in",
  "map.zoomOut": "Zoom out",
  "map.truncated": "Only the nearest {count} are shown.",

  // Position
  "place.locating": "Looking for your position …",
  "place.refused": "The car does not share its position. Touch the map where you are.",
  "place.missing": "Your position is not known. Touch the map where you are.",
  "place.type": "The car does not share its position. Type it in.",
  "place.coordinates": "Latitude, longitude",
  "place.set": "Go",
  "place.again": "Use the car’s position",
  "place.held": "No position signal",

  // Connection
  "link.connecting": "Connecting …",
  "link.reconnecting": "Connection lost. Trying again …",
  "link.offline": "No connection. Pins may be out of date.",
  "link.stale": "Last update {age} ago",
  "link.failed": "The service does not answer. The page keeps trying.",

  // Map drawing
  "draw.none": "This browser cannot draw the map. Here is what lies ahead.",

  // Banner
  "banner.label": "Alert ahead",
  "banner.here": "here",
  "banner.zone": "Camera zone",
  "banner.inZone": "You are in a camera zone",
  "banner.spoken": "{kind} in {distance}",
  "banner.spokenStreet": "{kind} in {distance}, {street}",
  "banner.dismiss": "Dismiss",

  // List of alerts ahead
  "ahead.title": "Ahead",
  "ahead.around": "Around you",
  "ahead.empty": "Nothing ahead",
  "ahead.emptyAround": "Nothing around you",
  "ahead.open": "Show what lies ahead",

  // Card of a pin
  "card.noStreet": "Street unknown",
  "card.seen": "Seen {age} ago",
  "card.seenNow": "Seen just now",
  "card.ends": "Expires in {time}",
  "card.zone": "The exact place is not shown here.",
  "card.source": "Source: {source}",
  "card.alsoFrom": "Also from: {sources}",
  "card.network": "Network: {network}",
  "card.confirms.one": "{count} confirmation",
  "card.confirms.other": "{count} confirmations",
  "card.disputes.one": "{count} says gone",
  "card.disputes.other": "{count} say gone",
  "card.expired": "No longer there",

  "confidence.sure": "Very likely there",
  "confidence.likely": "Probably there",
  "confidence.open": "Not yet confirmed",
  "confidence.doubtful": "Probably gone",

  // Votes
  "vote.there": "Still there",
  "vote.gone": "Gone",
  "vote.thanksThere": "Thank you. Marked as still there.",
  "vote.thanksGone": "Thank you. Marked as gone.",
  "vote.undone": "Your vote was taken back.",
  "vote.late": "It is gone already.",
  "vote.tooMany": "Too many votes. One moment …",
  "vote.failed": "Your vote did not arrive. Try again.",
  "vote.guest": "Sign in to vote.",
  "complaint.do": "This source is wrong",
  "complaint.sure": "Really tell the curators?",
  "complaint.thanks": "Thank you. The curators will look at this source.",
  "complaint.tooMany": "Enough complaints for today.",
  "complaint.failed": "Your complaint did not arrive. Try again.",

  // Signing in with a phone
  "pair.title": "Sign in with your phone",
  "pair.scan": "Scan the code with your phone.",
  "pair.type": "Or open {address} and type:",
  "pair.codeSpoken": "Code: {letters}",
  "pair.qr": "QR code for {address}",
  "pair.waiting": "Waiting for your phone …",
  "pair.left": "Valid for another {time}",
  "pair.done": "Signed in",
  "pair.denied": "Refused on the phone",
  "pair.expired": "The code has expired.",
  "pair.again": "New code",
  "pair.failed": "No code to be had right now.",
  "pair.offline": "Signing in needs a connection.",

  // Account
  "account.title": "Account",
  "account.guest": "Not signed in",
  "account.as": "Signed in as {name}",
  "account.signIn": "Sign in",
  "account.signOut": "Sign out",
  "account.ended": "You have been signed out.",
  "account.kept": "Settings are kept in your account.",
  "account.keptHere": "Settings are kept in this browser.",

  // Menu
  "menu.title": "Menu",
  "menu.open": "Open menu",
  "menu.kinds": "Shown on the map",
  "menu.sources": "Sources",
  "menu.networks": "Charger networks",
  "menu.display": "Display",
  "menu.sound": "Sound",
  "menu.all": "All",
  "menu.none": "None",
  "menu.about": "About Wayside",
  "menu.developers": "For developers",

  "group.alerts": "Alerts",
  "group.cameras": "Cameras",
  "group.chargers": "Chargers",
  "group.traffic": "Traffic",

  "sources.empty": "No sources",
  "sources.online": "Working",
  "sources.degraded": "Unreliable",
  "sources.offline": "Not working",
  "networks.primary": "Only {network}",
  "networks.all": "All networks",
  "networks.add": "Add a network",
  "networks.tier": "Your account shows one more network.",

  "units.title": "Units",
  "units.metric": "Kilometres",
  "units.imperial": "Miles",
  "theme.title": "Brightness",
  "theme.day": "Day",
  "theme.night": "Night",
  "theme.auto": "By the sun",
  "language.title": "Language",
  "density.title": "Text size",
  "density.smaller": "Smaller",
  "density.larger": "Larger",
  "density.value": "Text size {value} of 10",
  "tones.title": "Alert tone",
  "tones.try": "Play tone",
  "tones.touch": "Touch the screen to turn on sound.",
  "lead.title": "Alert distance",
  "lead.later": "Later",
  "lead.earlier": "Earlier",
  "lead.value": "At {speed}: {distance} ahead",

  // Attribution and restrictions
  "credits.title": "Data and map",
  "credits.none": "No data in view",
  "law.zones": "Here cameras are shown as zones only.",
  "law.hidden": "By law, this is not shown here: {kinds}.",

  // Demo
  "demo.label": "Demo drive",
  "demo.stop": "End demo",

  // Kinds, by their ids
  "kind.alert.police": "Police",
  "kind.alert.accident": "Accident",
  "kind.alert.road_closed": "Road closed",
  "kind.alert.construction": "Road works",
  "kind.alert.hazard": "Hazard",
  "kind.alert.hazard.car_stopped": "Stopped car",
  "kind.alert.hazard.object_on_road": "Object on the road",
  "kind.alert.hazard.pothole": "Pothole",
  "kind.alert.hazard.animal": "Animal",
  "kind.alert.hazard.fog": "Fog",
  "kind.alert.hazard.ice": "Ice",
  "kind.alert.hazard.flooding": "Flooding",
  "kind.camera.speed": "Speed camera",
  "kind.camera.red_light": "Red-light camera",
  "kind.camera.avg_speed": "Average-speed camera",
  "kind.charger.supercharger": "Fast charger",
  "kind.charger.destination": "Destination charger",
  "kind.traffic.jam": "Traffic jam",
} as const;
