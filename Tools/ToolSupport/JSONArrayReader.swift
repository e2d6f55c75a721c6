import TarnStore
package import TarnText

/// Reads an array of objects in any layout, one element in memory at a time. An element that is not
/// an object is returned as a bad one, and reading continues after it. The array may be a member of
/// an object, or of one in it, whose other members are skipped.
package final class JSONArrayReader {
  private enum State { case start, elements, end }

  private let lines: LineReader
  private var piece = UnsafeRawBufferPointer(start: nil, count: 0)
  private var position = 0
  private var line = 1
  private var column = 1
  private var state = State.start
  /// Returned after the last element.
  private var rest: InputItem<[JSONMember]>?

  /// The names of the members that lead to the array.
  private let path: [String]

  /// - Parameters:
  ///   - lines: must be at its start.
  ///   - path: the names of the members that lead to the array.
  package init(_ lines: LineReader, at path: [String] = []) {
    self.lines = lines
    self.path = path
  }

  /// The next element's members, or a bad element, with its first line; nil at the end.
  package func next() throws(ToolError) -> InputItem<[JSONMember]>? {
    if state == .start {
      for name in path { try descend(to: name) }
      // Skips white space, a byte order mark and the opening bracket.
      while let byte = try peek(), byte != UInt8(ascii: "[") {
        if !path.isEmpty, byte > 0x20 { throw misplaced("is no array") }
        take()
      }
      take()
      state = .elements
      try skipSpace()
      if try peek() == UInt8(ascii: "]") { try finish() }
    }
    guard state == .elements else {
      defer { rest = nil }
      return rest
    }
    try skipSpace()
    let (first, firstColumn) = (line, column)
    let bytes = try element()
    guard let separator = try peek() else {
      state = .end
      return .bad("the array does not end", line: first)
    }
    if separator == UInt8(ascii: "]") {
      try finish()
    } else {
      take()
    }
    do throws(JSONError) {
      guard case .object(let members) = try JSONScanner.exactValue(in: bytes)
      else {
        return .bad("not a JSON object", line: first)
      }
      return .record(members, line: first)
    } catch {
      return .bad(error.located(in: bytes, first, firstColumn), line: first)
    }
  }

  private func misplaced(_ reason: String) -> ToolError {
    ToolError("\(lines.name): line \(line): '\(path.joined(separator: "."))' \(reason)")
  }

  /// Enters an object, up to the value of one of its members.
  private func descend(to name: String) throws(ToolError) {
    while let byte = try peek(), byte != UInt8(ascii: "{") {
      if byte > 0x20, byte < 0x80 { throw misplaced("is in no object") }
      take()
    }
    take()
    while true {
      try skipSpace()
      guard try peek() == UInt8(ascii: "\"") else { throw misplaced("is not in the input") }
      let bytes = try element(endingAt: [UInt8(ascii: ":")])
      guard case .string(let found)? = try? JSONScanner.value(in: bytes) else {
        throw misplaced("cannot be found: a name is not JSON")
      }
      take()
      try skipSpace()
      if found.hasSameBytes(as: name) { return }
      _ = try element(endingAt: [UInt8(ascii: ","), UInt8(ascii: "}")])
      take()
    }
  }

  /// Checks that the objects around the array end, and that nothing follows.
  private func finish() throws(ToolError) {
    take()
    state = .end
    for name in path.reversed() {
      guard let fault = try leave(name) else { continue }
      rest = .bad(fault, line: line)
      return
    }
    try skipSpace()
    if try peek() != nil { rest = .bad("unexpected text after the array", line: line) }
  }

  /// Skips the members behind the one with that name, and the end of their object.
  ///
  /// - Returns: the error in the rest of the object; nil without one.
  private func leave(_ name: String) throws(ToolError) -> String? {
    while true {
      try skipSpace()
      switch try peek() {
      case UInt8(ascii: "}"):
        take()
        return nil
      case UInt8(ascii: ","): take()
      case nil: return "the object with '\(name)' does not end"
      default: return "',' or '}' is missing after '\(name)'"
      }
      try skipSpace()
      let bytes = try element(endingAt: [UInt8(ascii: ":")])
      if case .string(let found)? = try? JSONScanner.value(in: bytes), found.hasSameBytes(as: name)
      {
        return "the name '\(name)' is given twice"
      }
      take()
      _ = try element(endingAt: [UInt8(ascii: ","), UInt8(ascii: "}")])
    }
  }

  /// The bytes up to the comma or bracket after the element.
  private func element(
    endingAt ends: [UInt8] = [UInt8(ascii: "]"), UInt8(ascii: ",")]
  ) throws(ToolError) -> [UInt8] {
    var bytes: [UInt8] = []
    var depth = 0
    var isText = false
    var isEscaped = false
    while let byte = try peek() {
      if isText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isText = false
        }
      } else {
        switch byte {
        case UInt8(ascii: "\""): isText = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case _ where depth == 0 && ends.contains(byte): return bytes
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth = max(0, depth - 1)
        default: break
        }
      }
      guard bytes.count < lines.maximumLineBytes else {
        throw ToolError(
          "\(lines.name): the object in line \(line) is longer than \(lines.maximumLineBytes) bytes"
        )
      }
      bytes.append(byte)
      take()
    }
    return bytes
  }

  // MARK: - Bytes

  /// The next byte, nil at the end.
  private func peek() throws(ToolError) -> UInt8? {
    if position == piece.count {
      guard let next = try lines.piece() else { return nil }
      piece = next
      position = 0
    }
    return piece[position]
  }

  private func take() {
    guard position < piece.count else { return }
    column += 1
    if piece[position] == 0x0a { (line, column) = (line + 1, 1) }
    position += 1
  }

  private func skipSpace() throws(ToolError) {
    while let byte = try peek(), byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
      take()
    }
  }
}
