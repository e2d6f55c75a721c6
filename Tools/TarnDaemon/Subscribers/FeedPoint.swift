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

  /// Where a client is in one file.
  struct Place: Equatable {
    /// How a position relates to the file.
    enum Standing {
      /// The client has sent it: it may be one of another file.
      case sent
      /// It belongs to another selection, such as an earlier one of the watch, or shows none.
      case ofOtherSelection
      /// The open file has had it.
      case confirmed
    }

    let position: ChangePosition
    var standing: Standing
  }

  private var places: [UInt64: Place] = [:]
  /// The sums of the paths, that of the file which has changed last at the end.
  private var order: [UInt64] = []
  /// The sum of the watch's selection.
  private let selection: String

  /// - Parameter positions: as the client has sent them.
  init(_ positions: [String: ClientPosition] = [:], for selection: String) {
    self.selection = selection
    for (path, sent) in positions.sorted(by: { $0.key < $1.key }) {
      put(sent.position, Self.sum(path), isOther: sent.selection != selection)
    }
  }

  func place(in path: String) -> Place? { places[Self.sum(path)] }

  /// The client gets everything up to a position of the open file.
  mutating func move(_ path: String, to position: ChangePosition) {
    put(Place(position: position, standing: .confirmed), Self.sum(path))
  }

  /// The open file has the position of the client.
  mutating func confirm(_ path: String) { places[Self.sum(path)]?.standing = .confirmed }

  /// Another file may be at a path.
  mutating func doubt(_ path: String) {
    let sum = Self.sum(path)
    if places[sum]?.standing == .confirmed { places[sum]?.standing = .sent }
  }

  private mutating func put(_ position: ChangePosition, _ sum: UInt64, isOther: Bool) {
    put(Place(position: position, standing: isOther ? .ofOtherSelection : .sent), sum)
  }

  private mutating func put(_ place: Place, _ sum: UInt64) {
    if places.updateValue(place, forKey: sum) != nil, let index = order.lastIndex(of: sum) {
      order.remove(at: index)
    }
    order.append(sum)
  }

  private static func sum(_ path: String) -> UInt64 {
    path.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  // MARK: - As text

  /// Without the files of which the client has another selection.
  var text: String {
    var bytes = Data()
    let own = order.filter { places[$0]?.standing != .ofOtherSelection }
    for sum in own.suffix(Self.entriesMax) {
      guard let position = places[sum]?.position else { continue }
      Self.append(sum, to: &bytes)
      bytes.append(contentsOf: withUnsafeBytes(of: position.historyID.uuid) { Array($0) })
      Self.append(position.version, to: &bytes)
      Self.append(position.commitID, to: &bytes)
    }
    // In an address, a plus sign would be a space.
    let digits = bytes.base64EncodedString().replacingASCII("+", with: "-")
    return Self.mark + digits.replacingASCII("/", with: "_") + ".\(selection)"
  }

  /// Nil for any other text. An earlier version wrote it without the selection, which may be
  /// another one then.
  init?(_ text: String, for selection: String) {
    guard let rest = text.rest(afterBytesOf: Self.mark) else { return nil }
    let parts = String(rest).splitASCII(".", omittingEmpty: false).map(String.init)
    guard parts.count <= 2 else { return nil }
    let isOther = parts.count == 1 || parts[1] != selection
    self.selection = selection
    let standard = parts[0].replacingASCII("-", with: "+").replacingASCII("_", with: "/")
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
      put(position, Self.number(entry), isOther: isOther)
    }
  }

  private static func append(_ number: UInt64, to bytes: inout Data) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
