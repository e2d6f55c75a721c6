import TarnText

/// A package in Debian's package database.
package struct DebianPackage: Sendable, Equatable {
  package let name: String
  package let version: String
  package let architecture: String
  /// The wanted and the current state, such as `install ok installed`.
  package let status: String
  /// Estimated disk space, in KiB.
  package let installedSizeKiB: Int?
  package let section: String?
  package let priority: String?
  package let maintainer: String?
  /// The source package, if its name differs from the package's.
  package let source: String?
  /// The first line of the description.
  package let summary: String?
  package let isEssential: Bool
  /// The names in `Depends` and `Pre-Depends`, without versions and duplicates, in order; of
  /// alternatives only the first.
  package let depends: [String]

  /// Whether the package's files are installed; the database also lists removed packages.
  package var isInstalled: Bool { status.endsWithBytes(of: " installed") }
}

/// Reads `/var/lib/dpkg/status`: stanzas of `Name: value` lines, separated by an empty line. A line
/// that begins with white space continues the field before.
package final class DebianStatusReader {
  /// The path of the database on Debian.
  package static let defaultPath = "/var/lib/dpkg/status"

  /// The underlying lines, for positions and progress.
  package let lines: LineReader

  package init(_ lines: LineReader) { self.lines = lines }

  /// The next package, or a malformed stanza; nil at the end.
  package func next() throws(ToolError) -> InputItem<DebianPackage>? {
    guard let (fields, line, fault) = try stanza() else { return nil }
    if let fault { return .bad(fault, line: line) }
    guard let name = fields["package"], let version = fields["version"] else {
      return .bad("a stanza without a package name or version", line: line)
    }
    let summary = fields["description"]?.splitASCII("\n").first.map(String.init)
    let source = fields["source"]?.splitASCII(" ").first.map(String.init)
    let package = DebianPackage(
      name: name, version: version, architecture: fields["architecture"] ?? "all",
      status: fields["status"] ?? "",
      installedSizeKiB: fields["installed-size"].flatMap { Int($0) },
      section: fields["section"], priority: fields["priority"], maintainer: fields["maintainer"],
      source: source, summary: summary, isEssential: fields["essential"] == "yes",
      depends: Self.names(in: [fields["pre-depends"], fields["depends"]]))
    return .record(package, line: line)
  }

  /// The fields of the next stanza by lower-case name, its first line, and its error, if any.
  private func stanza() throws(ToolError) -> (fields: [String: String], line: Int, String?)? {
    var fields: [String: String] = [:]
    var first = 0
    var last: String?
    var fault: String?
    while let bytes = try lines.next() {
      guard let line = validText(bytes[...]) else {
        fault = fault ?? "not UTF-8"
        continue
      }
      if line.trimmingASCII(lineEnds: true).isEmpty {
        if first > 0 { break }
        continue
      }
      if first == 0 { first = lines.lineNumber }
      if let rest = line.rest(afterBytesOf: " ") ?? line.rest(afterBytesOf: "\t") {
        if let last { fields[last]? += "\n" + rest }
      } else if let parts = line.partsAroundASCII(":") {
        let name = parts.before.lowercased()
        if fields[name] != nil { fault = fault ?? "the field '\(parts.before)' is given twice" }
        fields[name] = String(parts.behind.trimmingASCII(lineEnds: true))
        last = name
      } else {
        fault = fault ?? "not a field: '\(line.prefix(40))'"
      }
    }
    return first > 0 || fault != nil ? (fields, max(1, first), fault) : nil
  }

  private static func names(in fields: [String?]) -> [String] {
    var names: [String] = []
    for field in fields {
      for relation in (field ?? "").splitASCII(",") {
        let first = relation.splitASCII("|").first ?? ""
        let name = String(
          Substring(
            first.trimmingASCII(lineEnds: true).utf8.prefix { !" (:\n".utf8.contains($0) }))
        if !name.isEmpty, !names.contains(name) { names.append(name) }
      }
    }
    return names
  }
}
