import Foundation
import TarnStore
import TarnText

/// Reads a file or a pipe line by line through one buffer, whatever its size. Confined to one
/// thread at a time.
package final class LineReader {
  /// The input's name in messages.
  package let name: String
  /// The size of a file, nil for other input; for a progress bar.
  package let totalBytes: Int64?
  /// The number of lines that `next()` has returned, which is the number of the last one.
  package private(set) var lineNumber = 0
  /// The longest line accepted; a longer one is an error.
  package let maximumLineBytes: Int
  /// Whether lines also end with a carriage return, alone or before a line feed.
  package var endsAtReturns = false
  /// The bytes that ended the last line returned; empty at the end of the input.
  package private(set) var lineEnd: [UInt8] = []

  private let descriptor: Int32
  private let owned: Bool
  private var buffer: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0
  private var atEnd = false
  private var bytesBefore: Int64 = 0

  /// Opens a file; `-` is standard input.
  ///
  /// - Parameter name: the input's name in messages, if it is not the path.
  package static func open(
    _ path: String, _ name: String? = nil
  ) throws(ToolError) -> LineReader {
    if path == "-" {
      return LineReader(descriptor: STDIN_FILENO, name: "standard input", owned: false)
    }
    let descriptor = try InputDescriptor.open(path)
    return LineReader(descriptor: descriptor, name: name ?? path, owned: true)
  }

  /// - Parameter owned: whether the descriptor is closed with the reader.
  package init(
    descriptor: Int32, name: String, owned: Bool, bufferBytes: Int = 1 << 18,
    maximumLineBytes: Int = 64 << 20
  ) {
    self.descriptor = descriptor
    self.name = name
    self.owned = owned
    self.maximumLineBytes = maximumLineBytes
    var status = stat()
    let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    totalBytes = isFile ? Int64(status.st_size) : nil
    buffer = .allocate(byteCount: max(16, bufferBytes), alignment: 16)
  }

  deinit {
    buffer.deallocate()
    if owned { close(descriptor) }
  }

  /// Bytes of the lines returned so far.
  package var consumedBytes: Int64 { bytesBefore + Int64(start) }

  /// The next line without its end (a carriage return before a line feed stays unless
  /// `endsAtReturns`), or nil at the end of the input. The bytes are valid until the next call. A
  /// byte order mark at the very start is skipped.
  package func next() throws(ToolError) -> UnsafeRawBufferPointer? {
    var searched = start
    while true {
      searched = endOfLine(from: searched) ?? end
      // The line feed after a carriage return may still be unread.
      if searched < end, atEnd || buffer[searched] == 0x0a || searched + 1 < end {
        let isPair = buffer[searched..<end].starts(with: [0x0d, 0x0a])
        lineEnd = isPair ? [0x0d, 0x0a] : [buffer[searched]]
        defer { start = searched + lineEnd.count }
        return line(upTo: searched)
      }
      if atEnd {
        lineEnd = []
        if start == end { return nil }
        defer { start = end }
        return line(upTo: end)
      }
      let moved = start
      try fill()
      searched -= moved
    }
  }

  private func endOfLine(from position: Int) -> Int? {
    if endsAtReturns {
      return buffer[position..<end].firstIndex { $0 == 0x0a || $0 == 0x0d }
    }
    let tail = UnsafeRawBufferPointer(rebasing: buffer[position..<end])
    return indexOf(0x0a, in: tail).map { position + $0 }
  }

  /// The first byte that is neither white space nor part of a byte order mark; nil if there is
  /// none. Consumes nothing.
  package func firstByte() throws(ToolError) -> UInt8? {
    var position = start
    while true {
      while position < end {
        if ![0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf].contains(buffer[position]) {
          return buffer[position]
        }
        position += 1
      }
      if atEnd { return nil }
      let moved = start
      try fill()
      position -= moved
    }
  }

  /// The first bytes of the input, at least up to that many line ends, and whether that is all of
  /// it. Consumes nothing. Call it before anything is read.
  package func head(
    lines: Int, bytes limit: Int = 1 << 16
  ) throws(ToolError) -> (bytes: UnsafeRawBufferPointer, isWhole: Bool) {
    while !atEnd, end - start < limit,
      buffer[start..<end].count(where: { $0 == 0x0a || $0 == 0x0d }) < lines
    { try fill() }
    return (UnsafeRawBufferPointer(rebasing: buffer[start..<end]), atEnd)
  }

  /// The next bytes, regardless of lines: those in the buffer, or as many as the next read returns;
  /// nil at the end. They are valid until the next call.
  package func piece() throws(ToolError) -> UnsafeRawBufferPointer? {
    if start == end, !atEnd { try fill() }
    if start == end { return nil }
    defer { start = end }
    return UnsafeRawBufferPointer(rebasing: buffer[start..<end])
  }

  private func line(upTo stop: Int) -> UnsafeRawBufferPointer {
    lineNumber += 1
    var bytes = UnsafeRawBufferPointer(rebasing: buffer[start..<stop])
    if lineNumber == 1, bytes.starts(with: [0xef, 0xbb, 0xbf]) {
      bytes = UnsafeRawBufferPointer(rebasing: bytes[3...])
    }
    return bytes
  }

  /// Moves the unread bytes to the front of the buffer, grows it if it is full, and reads more.
  private func fill() throws(ToolError) {
    if start > 0 {
      buffer.baseAddress!.copyMemory(from: buffer.baseAddress! + start, byteCount: end - start)
      bytesBefore += Int64(start)
      end -= start
      start = 0
    }
    if end == buffer.count {
      guard end < maximumLineBytes else {
        throw ToolError("\(name): line \(lineNumber + 1) is longer than \(maximumLineBytes) bytes")
      }
      let larger = UnsafeMutableRawBufferPointer.allocate(
        byteCount: min(maximumLineBytes, buffer.count * 2), alignment: 16)
      larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<end]))
      buffer.deallocate()
      buffer = larger
    }
    while true {
      if totalBytes == nil { try Interruption.wait(toRead: descriptor) }
      let count = read(descriptor, buffer.baseAddress! + end, buffer.count - end)
      if count >= 0 {
        end += count
        atEnd = count == 0
        return
      }
      if errno != EINTR { throw ToolError("cannot read", name, errno: errno) }
    }
  }
}

/// The first position of a byte.
func indexOf(_ byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
  guard let base = bytes.baseAddress, bytes.count > 0 else { return nil }
  return memchr(base, Int32(byte), bytes.count).map { UnsafeRawPointer($0) - base }
}

/// A record, or a line that is not one, each with the number of its first line, counted from 1.
package enum InputItem<Record> {
  case record(Record, line: Int)
  /// Why the line is not a record, in a few words that fit after `line 12: `.
  case bad(String, line: Int)
}
