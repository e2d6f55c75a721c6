import ToolSupport

/// What a configuration says.
package struct DaemonSettings: Equatable, Sendable {
  /// Distinguishes this daemon's cursors from those of others on the same files.
  var instance: String
  /// Where positions are kept that cannot be in the file.
  var stateFolder: String?
  var http: HTTPSettings?
  /// How many commands run at the same time.
  var commandsMax = 16
  var watches: [WatchSettings] = []
  var syncs: [SyncSettings] = []
}

/// Files that are kept the same as a server's objects.
struct SyncSettings: Equatable, Sendable {
  /// A path, or a pattern with `*`, `?` and `[…]`.
  var file: String
  /// A PostgreSQL address without a password.
  var server: String
  /// The classes of which all objects are exchanged.
  var classes: [String] = []
  /// Classes with a condition on their objects, as `--where` of `tarn sync` has them.
  var conditions: [String] = []
  /// A file with passwords, as libpq reads it.
  var passfile: String?
  /// How long to wait for a connection and for each answer; nil for the standard.
  var timeout: Duration?
}

/// The door for metrics, status and event streams.
struct HTTPSettings: Equatable, Sendable {
  enum Address: Equatable, Sendable {
    case socket(String, mode: UInt32)
    case port(host: String, Int)
  }

  var address: Address
  /// Where the token is that TCP clients must have.
  var token: SecretSource?
  /// The names that a request's Host may have, besides the address itself.
  var hosts: [String] = []
  /// The pages whose scripts may ask.
  var origins: [String] = []
}

/// The objects of a class that a watch selects.
struct ClassSettings: Equatable, Sendable {
  var name: String
  var filter: String?
  var columns: [String]?
}

/// One watch: objects of a class, or of several, in one file, or in all files that match a pattern.
struct WatchSettings: Equatable, Sendable {
  enum Start: String, Equatable, Sendable, CaseIterable { case snapshot, newest }

  var name: String
  /// The name that the watch had before, whose cursors it takes over.
  var formerName: String?
  /// A path, or a pattern with `*`, `?` and `[…]`.
  var file: String
  var className: String
  var filter: String?
  var columns: [String]?
  /// The classes after the first one.
  var moreClasses: [ClassSettings] = []
  var keeps: KeepText?
  var keepsOldValues = false
  var start = Start.snapshot
  var delivery = DeliverySettings()
  var sinks: [SinkSettings] = []
  /// Whether a file has none of its classes, so that there is nothing to select.
  var selectsNothing = false

  var classes: [ClassSettings] {
    [ClassSettings(name: className, filter: filter, columns: columns)] + moreClasses
  }

  /// Whether it needs old values: to deliver them, or to know whether objects matched before.
  var needsOldValues: Bool { keepsOldValues || hasFilter }
  var hasFilter: Bool { classes.contains { $0.filter != nil } }

  /// The names of all classes.
  var classNames: String { classes.map(\.name).joined(separator: ",") }
}

/// When changes are delivered.
struct DeliverySettings: Equatable, Sendable {
  /// Each commit apart, instead of everything since the last delivery as one difference.
  var isEveryCommit = false
  /// The least time between two deliveries.
  var interval = Duration.zero
  /// How long a change waits for others, to be merged with them.
  var delay = Duration.zero
  /// The waits after failures: doubled from the first to the last.
  var firstRetry = Duration.seconds(1)
  var lastRetry = Duration.seconds(300)
}

/// A place to which changes are delivered.
struct SinkSettings: Equatable, Sendable {
  enum Kind: Equatable, Sendable {
    case file(FileSettings)
    case exec(ExecSettings)
    case webhook(WebhookSettings)
    case socket(SocketSettings)
    case events(EventSettings)
  }

  var name: String
  var kind: Kind
  /// Nil if a refused batch is sent until it is taken.
  var deadLetters: DeadLetterSettings?
}

/// Where objects go that a receiver refuses.
struct DeadLetterSettings: Equatable, Sendable {
  var path: String
  /// How often a delivery is sent before it is made smaller or given up.
  var attemptsMax = 5
}

struct FileSettings: Equatable, Sendable {
  var path: String
}

struct ExecSettings: Equatable, Sendable {
  var command: [String]
  var timeout = Duration.seconds(60)
  /// How long it may take to end after SIGTERM before it is killed.
  var grace = Duration.seconds(2)
  var user: String?
}

struct WebhookSettings: Equatable, Sendable {
  /// Empty if it is a secret.
  var url: String
  /// Where the URL is, if it is a secret.
  var urlSource: SecretSource?
  /// Where the key for signatures is.
  var secret: SecretSource?
  var headers: [String] = []
  var secretHeaders: [SecretHeader] = []
  var timeout = Duration.seconds(30)
  /// A request's body is at most about that long.
  var bodyBytes = 1 << 20
  /// A file with certificates, instead of the system's.
  var certificates: String?
}

struct SocketSettings: Equatable, Sendable {
  var path: String
  var mode: UInt32 = 0o600
  /// How long a client may leave data unread before it is dropped.
  var patience = Duration.seconds(30)
  var clientsMax = 256
}

struct EventSettings: Equatable, Sendable {
  var patience = Duration.seconds(30)
  /// A stream that is quiet for that long gets a comment, by which a client that left is noticed.
  var heartbeat = Duration.seconds(15)
  var clientsMax = 256
}
