/// What is wrong in a configuration file, and where.
package struct ConfigurationProblem: Error, Equatable, Sendable, CustomStringConvertible {
  package let file: String
  /// Counted from 1; 0 for the whole file.
  package let line: Int
  /// The path of keys: `watches[0].sinks[1].timeout`; may be empty.
  package let key: String
  package let message: String

  init(_ file: String, _ line: Int, _ key: String, _ message: String) {
    self.file = file
    self.line = line
    self.key = key
    self.message = message
  }

  package var description: String {
    let place = line == 0 ? file : "\(file):\(line)"
    return key.isEmpty ? "\(place): \(message)" : "\(place): \(key): \(message)"
  }
}
