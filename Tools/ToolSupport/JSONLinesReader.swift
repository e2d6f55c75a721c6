package import TarnText

/// Reads JSON Lines: one object per line. Empty lines are skipped; any other line that is not an
/// object is returned as a bad one, and reading can continue after it.
package final class JSONLinesReader {
  /// The underlying lines, for positions and progress.
  package let lines: LineReader

  package init(_ lines: LineReader) { self.lines = lines }

  /// The next object's members, or a bad line; nil at the end.
  package func next() throws(ToolError) -> InputItem<[JSONMember]>? {
    while let line = try lines.next() {
      if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }) { continue }
      do throws(JSONError) {
        guard case .object(let members) = try JSONScanner.value(in: line, keepingDigits: true)
        else {
          return .bad("not a JSON object", line: lines.lineNumber)
        }
        return .record(members, line: lines.lineNumber)
      } catch {
        return .bad(error.description, line: lines.lineNumber)
      }
    }
    return nil
  }
}
