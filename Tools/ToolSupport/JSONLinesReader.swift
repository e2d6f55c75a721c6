package import TarnText

/// Reads JSON objects one after another: one per line (JSON Lines), over several lines as programs
/// print them for people, or several on a line. Empty lines are skipped; anything else that is not
/// an object is returned as a bad one, and reading can continue at the next line.
package final class JSONLinesReader {
  /// The underlying lines, for positions and progress.
  package let lines: LineReader
  /// An object that lasts longer than a line; its first line.
  private var piece = JSONPiece()
  private var firstLine = 0
  /// The place of its first byte in that line, from 1.
  private var firstColumn = 1
  /// Read, and not returned yet.
  private var found: ArraySlice<InputItem<[JSONMember]>> = []

  package init(_ lines: LineReader) { self.lines = lines }

  /// The next object's members, or a bad line; nil at the end.
  package func next() throws(ToolError) -> InputItem<[JSONMember]>? {
    while found.isEmpty {
      guard let line = try lines.next() else {
        giveUpPiece()
        break
      }
      if piece.isEmpty {
        if line.allSatisfy(JSONPiece.isSpace) { continue }
        if let item = single(line) { return item }
      } else if piece.isUnlikely(before: line) {
        giveUpPiece()
      }
      split(line)
      guard piece.bytes.count < lines.maximumLineBytes else {
        throw ToolError(
          "\(lines.name): the object in line \(firstLine) is longer than "
            + "\(lines.maximumLineBytes) bytes")
      }
    }
    return found.popFirst()
  }

  /// The usual line: an object. Nil for another one.
  private func single(_ line: UnsafeRawBufferPointer) -> InputItem<[JSONMember]>? {
    guard case .object(let members)? = try? JSONScanner.exactValue(in: line) else {
      return nil
    }
    return .record(members, line: lines.lineNumber)
  }

  /// Finds the objects that end in a line. One that does not is kept.
  private func split(_ line: UnsafeRawBufferPointer) {
    var rest = line[...]
    while true {
      if piece.isEmpty {
        rest = rest.drop(while: JSONPiece.isSpace)
        guard let first = rest.first else { return }
        firstLine = lines.lineNumber
        firstColumn = rest.startIndex + 1
        // Only brackets say where a value ends.
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
          return add(Array(rest))
        }
      }
      let end = piece.end(in: rest)
      piece.bytes += rest[..<(end ?? rest.endIndex)]
      guard let end else {
        // A string ends in its line, and brackets belong to each other.
        if piece.isInString || piece.hasWrongBracket { return giveUpPiece() }
        piece.bytes.append(0x0a)
        return
      }
      rest = rest[end...].drop(while: JSONPiece.isSpace)
      // A line that is not an object is a bad one.
      let isAlone = rest.isEmpty || rest.first == UInt8(ascii: "{")
      add(isAlone ? piece.bytes : piece.bytes + rest)
      piece = JSONPiece()
      if !isAlone { return }
    }
  }

  private func giveUpPiece() {
    if piece.bytes.last == 0x0a { piece.bytes.removeLast() }
    if !piece.isEmpty { add(piece.bytes) }
    piece = JSONPiece()
  }

  private func add(_ bytes: [UInt8]) {
    do throws(JSONError) {
      guard case .object(let members) = try JSONScanner.exactValue(in: bytes) else {
        found.append(.bad("not a JSON object", line: firstLine))
        return
      }
      found.append(.record(members, line: firstLine))
    } catch {
      found.append(.bad(error.located(in: bytes, firstLine, firstColumn), line: firstLine))
    }
  }
}

extension JSONError {
  /// The message with the place in the input, and how text in another encoding is converted.
  ///
  /// - Parameters:
  ///   - bytes: the value with the error.
  ///   - line: the line of its first byte.
  ///   - column: the place of its first byte in that line.
  func located(in bytes: [UInt8], _ line: Int, _ column: Int) -> String {
    let before = bytes.prefix(self.column - 1)
    var place = "column \(column + before.count)"
    if let end = before.lastIndex(of: 0x0a) {
      let ends = before.count { $0 == 0x0a }
      place = "line \(line + ends), column \(before.count - end)"
    }
    let hint = message == "a string is not UTF-8" ? " \(TextEncoding.hint)" : ""
    return "\(message) at \(place)\(hint)"
  }
}

/// A value with brackets, as far as it has been read.
struct JSONPiece {
  var bytes: [UInt8] = []
  private(set) var isInString = false
  private(set) var hasWrongBracket = false
  private var isEscaped = false
  /// The open brackets.
  private var open: [UInt8] = []
  /// The last byte that is not white space.
  private var last: UInt8 = 0

  var isEmpty: Bool { bytes.isEmpty }

  /// White space, and the byte that begins a text in a sequence of JSON texts (RFC 7464).
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d || byte == 0x1e
  }

  /// Whether the value cannot continue with that line: an object begins where a name is required.
  func isUnlikely(before line: UnsafeRawBufferPointer) -> Bool {
    line.first { !Self.isSpace($0) } == UInt8(ascii: "{") && open.last == UInt8(ascii: "{")
      && last != UInt8(ascii: ":")
  }

  /// The place behind the value's end; nil if it does not end in those bytes.
  mutating func end(in text: Slice<UnsafeRawBufferPointer>) -> Int? {
    for place in text.indices {
      let byte = text[place]
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      if !Self.isSpace(byte) { last = byte }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): open.append(byte)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if open.popLast().map({ $0 + 2 }) != byte { hasWrongBracket = true }
        if open.isEmpty { return place + 1 }
      default: break
      }
    }
    return nil
  }
}
