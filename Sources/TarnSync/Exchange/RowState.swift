import Foundation
import TarnStore
import TarnText

/// The synchronization state that a server stores in a row, and a replica's note about its write.
enum RowState {
  /// The stamps that are later than the row's, by column: `{"title": [time, writer]}`.
  static func stamps(_ json: [UInt8]?) -> [StoredText: Stamp]? {
    guard let json else { return [:] }
    guard let members = members(json) else { return nil }
    var stamps: [StoredText: Stamp] = [:]
    for member in members {
      guard case .array(let pair) = member.value, pair.count == 2, let stamp = stamp(pair) else {
        return nil
      }
      stamps[StoredText(member.name)] = stamp
    }
    return stamps
  }

  /// The parts by column, with the stamp for which they are valid:
  /// `{"title": [time, writer, "base64"]}`.
  static func parts(_ json: [UInt8]?) -> [StoredText: (stamp: Stamp, bytes: [UInt8])]? {
    guard let json else { return [:] }
    guard let members = members(json) else { return nil }
    var parts: [StoredText: (stamp: Stamp, bytes: [UInt8])] = [:]
    for member in members {
      guard case .array(let list) = member.value, list.count == 3, let stamp = stamp(list),
        case .string(let text) = list[2], let data = Data(base64Encoded: text)
      else { return nil }
      parts[StoredText(member.name)] = (stamp, Array(data))
    }
    return parts
  }

  private static func stamp(_ list: [JSONValue]) -> Stamp? {
    guard case .integer(let time) = list[0], case .integer(let number) = list[1],
      let writer = UInt32(exactly: number)
    else { return nil }
    return Stamp(time, by: writer)
  }

  /// The binary format of jsonb begins with its version.
  private static func members(_ json: [UInt8]) -> [JSONMember]? {
    guard json.first == 1,
      case .object(let members)? = try? JSONScanner.value(in: Array(json[1...]))
    else { return nil }
    return members
  }

  /// A replica's write of a row.
  struct Note {
    /// The replica's number.
    var by: UInt32
    /// The stamp and incarnation of an inserted row.
    var at: Int64?
    var oid: Int64?
    /// The stamps of the written columns; for an inserted row, the later ones.
    var cols: [String: Int64]?
    /// The stamps of the columns with parts that the replica merged with: `[time, writer]`.
    var seen: [String: [Int64]]?
    /// The exact values of columns that hold less, and the names of elements.
    var parts: [String: String]?

    /// In the binary format of jsonb.
    var bytes: [UInt8] {
      var members = [JSONMember("by", .integer(Int64(by)))]
      if let at { members.append(JSONMember("at", .integer(at))) }
      if let oid { members.append(JSONMember("oid", .integer(oid))) }
      if let cols { members.append(JSONMember("cols", Self.object(cols) { .integer($0) })) }
      if let seen {
        members.append(JSONMember("seen", Self.object(seen) { .array($0.map { .integer($0) }) }))
      }
      if let parts { members.append(JSONMember("parts", Self.object(parts) { .string($0) })) }
      return [1] + JSONText.bytes(.object(members))
    }

    private static func object<T>(
      _ entries: [String: T], _ value: (T) -> JSONValue
    ) -> JSONValue {
      .object(entries.map { JSONMember($0.key, value($0.value)) })
    }
  }
}
