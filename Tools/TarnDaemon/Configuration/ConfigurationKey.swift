/// A key of the configuration: the one table of keys is what the manual page and the schema for
/// editors are made of, and what the tests compare the reader with.
struct ConfigurationKey: Sendable {
  indirect enum Kind: Sendable {
    case text
    /// An address that begins with http:// or https://.
    case url
    /// Text that matches a regular expression.
    case matching(String)
    /// An absolute path.
    case path
    /// One text, or a list of them.
    case texts
    /// The same, at least one.
    case someTexts
    /// Texts, and mappings among them.
    case textsOr([ConfigurationKey], least: Int64)
    case integer(ClosedRange<Int>)
    case bool
    /// A key that is there, or not.
    case only
    /// One of a few words.
    case choice([String])
    /// `250ms`, `90s`, `5m`, `2h`, `7d`.
    case duration
    /// `64kB`, `1GB`.
    case size
    /// `7d,1GB` or `none`.
    case limit
    /// `0660`.
    case rights
    case keys([ConfigurationKey])
    case list([ConfigurationKey])
    /// A list of mappings, each with exactly one of the first keys.
    case variants([ConfigurationVariant])
    case either([Kind])
  }

  let name: String
  let kind: Kind
  let help: String
  let isRequired: Bool
  /// The value without the key, as text.
  let standard: String?

  init(
    _ name: String, _ kind: Kind, _ help: String, isRequired: Bool = false,
    standard: String? = nil
  ) {
    self.name = name
    self.kind = kind
    self.help = help
    self.isRequired = isRequired
    self.standard = standard
  }
}

/// One of several kinds of a mapping, which has the first of its keys and none of the others'.
struct ConfigurationVariant: Sendable {
  let keys: [ConfigurationKey]
  var name: String { keys[0].name }
}

/// Which keys of a mapping exclude each other, or need each other. It holds in each mapping that
/// may have all of them.
struct ConfigurationRule: Sendable {
  enum Count: Sendable { case exactlyOne, atMostOne }

  let count: Count
  let keys: [String]
  /// Keys that only the first one may have beside it.
  var companions: [String] = []

  var allKeys: [String] { keys + companions }
}
