/// The keys of the configuration. DaemonReference describes their meaning.
enum ConfigurationKeys {
  typealias Key = ConfigurationKey

  /// As the reader has them, for the schema.
  static let rules = [
    ConfigurationRule(count: .exactlyOne, keys: ["file", "env", "credential"]),
    ConfigurationRule(
      count: .exactlyOne, keys: ["class", "classes"], companions: ["where", "columns"]),
    ConfigurationRule(count: .atMostOne, keys: ["token-file", "token"]),
    ConfigurationRule(count: .atMostOne, keys: ["secret-file", "secret"]),
  ]

  /// The form of the names of watches and sinks.
  private static let nameForm = "^(?!\\.\\.?$)[A-Za-z0-9_.-]{1,64}$"

  static let all: [Key] = [
    Key(
      "name", .matching("^[^/\\x00-\\x1f]{1,100}$"),
      "distinguishes this daemon from others on the same files",
      standard: "the name of the file"),
    Key("state", .path, "the folder for positions", standard: "the unit's state folder"),
    Key(
      "commands", .integer(1...1000), "how many programs run at the same time", standard: "16"),
    Key("http", .keys(http), "the endpoint for status, metrics and events"),
    Key("watches", .list(watch), "what is watched, and to what it is delivered"),
    Key("sync", .list(sync), "files that are replicated with a server"),
  ]

  private static let http: [Key] = [
    Key(
      "listen", .text, "the absolute path of a socket, or HOST:PORT, which needs a token",
      isRequired: true),
    Key("mode", .rights, "the rights of the socket", standard: "0600"),
    Key("token-file", .path, "a file with the token of requests to a port: at least 16 bytes"),
    Key("token", .keys(secret), "where that token is, instead of token-file"),
    Key("hosts", .texts, "the hosts that requests may name, besides the address itself"),
    Key("origins", .texts, "the web pages whose scripts may ask"),
  ]

  /// Where a secret is: exactly one of these.
  private static let secret: [Key] = [
    Key("file", .path, "a file with it, which is read each time"),
    Key("env", .text, "a variable of the daemon's environment"),
    Key("credential", .text, "a credential that the unit loads, as of LoadCredential="),
  ]

  private static let watch: [Key] = [
    Key(
      "name", .matching(nameForm), "the name of the watch: letters, digits and - _ .",
      isRequired: true),
    Key("rename", .text, "the name that it had before, whose cursors it takes over"),
    Key("file", .path, "the store, or a pattern with * ? [...]", isRequired: true),
    Key("class", .text, "the class whose objects are watched"),
    Key("classes", .textsOr(classes, least: 1), "several classes instead: names, or mappings"),
    Key("where", .text, "a filter of the objects"),
    Key("columns", .texts, "the columns that are watched and delivered", standard: "all"),
    Key("old-values", .bool, "adds the values before a change", standard: "false"),
    Key("keep", .limit, "how far a sink may fall behind", standard: "1 GiB"),
    Key(
      "start", .choice(["snapshot", "newest"]),
      "whether a new sink first gets all objects or only what changes", standard: "snapshot"),
    Key("delivery", .keys(delivery), "when changes are delivered"),
    Key("sinks", .variants(sinks), "the receivers", isRequired: true),
  ]

  private static let classes: [Key] = [
    Key("class", .text, "the name of the class", isRequired: true),
    Key("where", .text, "a filter of its objects"),
    Key("columns", .texts, "its columns that are watched and delivered", standard: "all"),
  ]

  private static let delivery: [Key] = [
    Key("every-commit", .bool, "delivers each commit separately", standard: "false"),
    Key("interval", .duration, "the least time between two deliveries", standard: "0"),
    Key("delay", .duration, "how long a change waits for others", standard: "0"),
    Key("first-retry", .duration, "the wait after the first failure", standard: "1s"),
    Key("last-retry", .duration, "the longest wait after failures", standard: "5m"),
  ]

  private static let sync: [Key] = [
    Key("file", .path, "the store, or a pattern with * ? [...]", isRequired: true),
    Key("server", .text, "a PostgreSQL address without a password", isRequired: true),
    Key("classes", .texts, "the classes of which all objects are exchanged", standard: "all"),
    Key("where", .texts, "conditions, each CLASS: CONDITION"),
    Key("passfile", .path, "a file with passwords, as libpq reads it"),
    Key(
      "timeout", .duration, "how long a connection and an answer may take",
      standard: "10s to connect, 60s for an answer"),
  ]

  // MARK: - Sinks

  private static let name = Key(
    "name", .matching(nameForm), "the name of the sink, if the watch has two of a kind",
    standard: "its kind")

  private static let deadLetters = Key(
    "dead-letters", .either([.path, .keys(letters)]),
    "the file for objects that the receiver refuses, so that the rest goes on")

  private static let letters: [Key] = [
    Key("file", .path, "the file", isRequired: true),
    Key(
      "after", .integer(1...1000),
      "how often a delivery is refused before it is divided or given up",
      standard: "5"),
  ]

  private static let header: [Key] =
    [
      Key("name", .text, "the name of the header", isRequired: true),
      Key("prefix", .text, "what precedes the secret in the header's value"),
    ] + secret

  private static let sinks = [
    ConfigurationVariant(keys: [
      Key(
        "exec", .someTexts, "a program and its arguments, which may have {key}", isRequired: true),
      name,
      Key("timeout", .duration, "how long it may run", standard: "60s"),
      Key("grace", .duration, "how long it may take to end after SIGTERM", standard: "2s"),
      Key("user", .text, "the user that it runs as", standard: "the daemon's"),
      deadLetters,
    ]),
    ConfigurationVariant(keys: [
      Key("file", .path, "a file, pipe or device that lines are written to", isRequired: true),
      name,
    ]),
    ConfigurationVariant(keys: [
      Key("socket", .path, "the path of a socket for clients", isRequired: true),
      name,
      Key("mode", .rights, "the rights of the socket", standard: "0600"),
      Key("patience", .duration, "how long a client may leave data unread", standard: "30s"),
      Key("clients", .integer(1...10_000), "how many clients at most", standard: "256"),
    ]),
    ConfigurationVariant(keys: [
      Key(
        "webhook", .either([.url, .keys(secret)]),
        "the URL that batches are posted to, or where it is if it is a secret", isRequired: true),
      name,
      Key("secret-file", .path, "a file with the key that bodies are signed with"),
      Key("secret", .keys(secret), "where that key is, instead of secret-file"),
      Key(
        "headers", .textsOr(header, least: 0),
        "lines such as 'Name: value', or mappings for headers with a secret"),
      Key("timeout", .duration, "how long a request may take", standard: "30s"),
      Key("body", .size, "about how long a body is at most", standard: "1MiB"),
      Key("certificates", .path, "a file with certificates", standard: "the system's"),
      deadLetters,
    ]),
    ConfigurationVariant(keys: [
      Key("events", .only, "server-sent events of the HTTP endpoint", isRequired: true),
      name,
      Key("patience", .duration, "how long a client may leave data unread", standard: "30s"),
      Key("heartbeat", .duration, "a stream that is quiet so long gets a comment", standard: "15s"),
      Key("clients", .integer(1...10_000), "how many clients at most", standard: "256"),
    ]),
  ]
}
