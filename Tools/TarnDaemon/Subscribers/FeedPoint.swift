import Foundation
import Tarn
import ToolSupport

/// Where a client is in the files of a watch. Its text is the id of the events of a watch with a
/// pattern.
///
/// The text has a sum of the path and the position of each file. A client that returns with it gets
/// what it lacks of these files, and the state of all others. So a text that would be too long
/// leaves out the files that have not changed for longest, and nothing is lost.
struct FeedPoint: Sendable {
  /// Servers and proxies refuse longer headers.
  static let textBytesMax = 6_000
  /// The sum of the path, the history, the version and the commit.
  private static let entryBytes = 8 + 16 + 8 + 8
  private static let entriesMax = textBytesMax / 4 * 3 / entryBytes
  /// Before the entries: no position begins so.
  private static let mark = "files."

  private var positions: [UInt64: ChangePosition] = [:]
  /// The sums of the paths, that of the file which has changed last at the end.
  private var order: [UInt64] = []

  init(_ positions: [String: ChangePosition] = [:]) {
    for (path, position) in positions.sorted(by: { $0.key < $1.key }) { move(path, to: position) }
  }

  func position(in path: String) -> ChangePosition? { positions[Self.sum(path)] }

  mutating func move(_ path: String, to position: ChangePosition) {
    move(Self.sum(path), to: position)
  }

  private mutating func move(_ sum: UInt64, to position: ChangePosition) {
    if positions.updateValue(position, forKey: sum) != nil, let index = order.lastIndex(of: sum) {
      order.remove(at: index)
    }
    order.append(sum)
  }

  private static func sum(_ path: String) -> UInt64 {
    path.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  // MARK: - As text

  var text: String {
    var bytes = Data()
    for sum in order.suffix(Self.entriesMax) {
      guard let position = positions[sum] else { continue }
      Self.append(sum, to: &bytes)
      bytes.append(contentsOf: withUnsafeBytes(of: position.historyID.uuid) { Array($0) })
      Self.append(position.version, to: &bytes)
      Self.append(position.commitID, to: &bytes)
    }
    // In an address, a plus sign would be a space.
    let digits = bytes.base64EncodedString().replacingASCII("+", with: "-")
    return Self.mark + digits.replacingASCII("/", with: "_")
  }

  /// Nil for any other text.
  init?(_ text: String) {
    guard let digits = text.rest(afterBytesOf: Self.mark) else { return nil }
    let standard = String(digits).replacingASCII("-", with: "+").replacingASCII("_", with: "/")
    guard let data = Data(base64Encoded: standard), data.count % Self.entryBytes == 0 else {
      return nil
    }
    let bytes = Array(data)
    for start in stride(from: 0, to: bytes.count, by: Self.entryBytes) {
      let entry = bytes[start..<start + Self.entryBytes]
      let history = entry.dropFirst(8).prefix(16).withUnsafeBytes {
        UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
      }
      let commit = String(Self.number(entry.dropFirst(32)), radix: 16)
      let version = Self.number(entry.dropFirst(24))
      guard let position = ChangePosition("\(history.uuidString)/\(version)/\(commit)") else {
        return nil
      }
      move(Self.number(entry), to: position)
    }
  }

  private static func append(_ number: UInt64, to bytes: inout Data) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
