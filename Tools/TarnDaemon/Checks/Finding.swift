import ToolSupport

/// What a check has found of one part of a configuration.
struct Finding: Equatable, CustomStringConvertible {
  enum Kind {
    /// `run` would fail there, and go on failing.
    case problem
    /// `run` would work, but probably not as it is meant; or it would fail in some of the stores.
    case warning
    /// It would work, but somebody may want to know; or it cannot be known here.
    case note
  }

  let kind: Kind
  /// The watch, or the watch and the sink with a slash between them, or a key.
  let place: String
  let message: String

  static func problem(_ place: String, _ message: String) -> Finding {
    Finding(kind: .problem, place: place, message: message)
  }

  static func warning(_ place: String, _ message: String) -> Finding {
    Finding(kind: .warning, place: place, message: message)
  }

  static func note(_ place: String, _ message: String) -> Finding {
    Finding(kind: .note, place: place, message: message)
  }

  /// A line of `check`: the kind, and the rest without control characters, which names of files may
  /// have.
  var line: String { "\(kind): \(printable(description))" }

  var description: String { place.isEmpty ? message : "\(place): \(message)" }
}
