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
  "map.orientation": "Map orientation",
  "map.zoomIn": "Zoom in",
  "map.zoomOut": "Zoom out",
  "map.truncated": "Showing the nearest {count}",

  // Position
  "place.locating": "Finding your location …",
  "place.refused": "Location is off. Tap the map to set your position.",
  "place.missing": "Can’t find your location. Tap the map to set your position.",
  "place.type": "Location is off. Enter your position.",
  "place.coordinates": "Latitude, longitude",
  "place.set": "Set",
  "place.again": "Use my location",
  "place.held": "No GPS signal",

  // Connection
  "link.connecting": "Connecting …",
  "link.reconnecting": "Connection lost. Reconnecting …",
  "link.offline": "No connection. Pins may be out of date.",
  "link.stale": "Last updated {age} ago",
  "link.failed": "Can’t reach the server. Retrying …",

  // Map drawing
  "draw.none": "This browser can’t draw the map. Here is the list instead.",

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
  "ahead.emptyAround": "Nothing within {distance}",
  "ahead.open": "Show what’s ahead",

  // Card of a pin
  "card.noStreet": "Street unknown",
  "card.seen": "Seen {age} ago",
  "card.seenNow": "Seen just now",
  "card.ends": "Expires in {time}",
  "card.zone": "Exact location hidden by local law.",
  "card.source": "Source: {source}",
  "card.alsoFrom": "Also from: {sources}",
  "card.network": "Network: {network}",
  "card.confirms.one": "{count} confirmation",
  "card.confirms.other": "{count} confirmations",
  "card.disputes.one": "{count} reported it gone",
  "card.disputes.other": "{count} reported it gone",
  "card.expired": "No longer there",

  "confidence.sure": "Very likely there",
  "confidence.likely": "Probably there",
  "confidence.open": "Not yet confirmed",
  "confidence.doubtful": "Probably gone",

  // Votes
  "vote.there": "Still there",
  "vote.gone": "Gone",
  "vote.thanksThere": "Thanks. Marked as still there.",
  "vote.thanksGone": "Thanks. Marked as gone.",
  "vote.undone": "Vote undone.",
  "vote.late": "Already removed.",
  "vote.tooMany": "Too many votes. Please wait …",
  "vote.failed": "Couldn’t send your vote. Try again.",
  "vote.guest": "Sign in to vote",
  "complaint.do": "Report this source",
  "complaint.sure": "Report it to the curators?",
  "complaint.thanks": "Thanks. The curators will review this source.",
  "complaint.tooMany": "You’ve reported enough for today. Try again tomorrow.",
  "complaint.failed": "Couldn’t send your report. Try again.",

  // Signing in with a phone
  "pair.title": "Sign in with your phone",
  "pair.scan": "Scan the code with your phone.",
  "pair.type": "Or open {address} and enter:",
  "pair.codeSpoken": "Code: {letters}",
  "pair.qr": "QR code for {address}",
  "pair.waiting": "Waiting for your phone …",
  "pair.left": "Expires in {time}",
  "pair.done": "Signed in",
  "pair.denied": "Denied on the phone",
  "pair.expired": "The code has expired.",
  "pair.again": "New code",
  "pair.failed": "Couldn’t get a code. Try again.",
  "pair.offline": "You need to be online to sign in.",

  // Account
  "account.title": "Account",
  "account.guest": "Not signed in",
  "account.as": "Signed in as {name}",
  "account.signIn": "Sign in",
  "account.signOut": "Sign out",
  "account.ended": "You’ve been signed out.",
  "account.kept": "Settings are saved in your account.",
  "account.keptHere": "Settings are saved in this browser.",

  // Menu
  "menu.title": "Menu",
  "menu.open": "Open menu",
  "menu.kinds": "Map layers",
  "menu.sources": "Sources",
  "menu.networks": "Charger networks",
  "menu.display": "Display",
  "menu.sound": "Sound",
  "menu.all": "All",
  "menu.none": "None",
  "menu.about": "About Wayside",
  "menu.developers": "API",

  "group.alerts": "Alerts",
  "group.cameras": "Cameras",
  "group.chargers": "Chargers",
  "group.traffic": "Traffic",

  "sources.empty": "No sources",
  "source.incidents": "Live incidents",
  "sources.online": "Working",
  "sources.degraded": "Degraded",
  "sources.offline": "Offline",
  "networks.primary": "Only {network}",
  "networks.guest": "Sign in to choose other networks.",
  "networks.all": "All networks",
  "networks.add": "Add a network",
  "networks.tier": "Your account shows one more network.",

  "units.title": "Units",
  "units.metric": "Kilometres",
  "units.imperial": "Miles",
  "theme.title": "Theme",
  "theme.day": "Light",
  "theme.night": "Dark",
  "theme.auto": "Automatic",
  "language.title": "Language",
  "density.title": "Text size",
  "density.smaller": "Smaller",
  "density.larger": "Larger",
  "density.value": "Text size {value} of 10",
  "tones.title": "Alert tone",
  "tones.try": "Play tone",
  "tones.touch": "Tap the screen to turn on sound.",
  "lead.title": "Alert distance",
  "lead.later": "Later",
  "lead.earlier": "Earlier",
  "lead.value": "At {speed}: {distance} ahead",

  // Attribution and restrictions
  "credits.title": "Data sources & copyright",
  "credits.none": "No data in view",
  "law.zones": "Cameras are shown as zones only here, by local law.",
  "law.hidden": "Not shown here by local law: {kinds}.",

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
