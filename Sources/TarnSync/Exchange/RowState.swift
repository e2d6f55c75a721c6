import Foundation
import TarnStore

/// The state of sync that a server keeps in a row, and a replica's note about its write.
enum RowState {
  /// The stamps that are later than the row's, by column: `{"title": [time, writer]}`.
  static func stamps(_ json: [UInt8]?) -> [String: Stamp]? {
    guard let json else { return [:] }
    guard let found = try? JSONDecoder().decode([String: [Int64]].self, from: text(json)) else {
      return nil
    }
    var stamps: [String: Stamp] = [:]
    for (name, pair) in found {
      guard pair.count == 2, let writer = UInt32(exactly: pair[1]) else { return nil }
      stamps[name] = Stamp(pair[0], by: writer)
    }
    return stamps
  }

  /// The parts by column, with the stamp for which they hold:
  /// `{"title": [time, writer, "base64"]}`.
  static func parts(_ json: [UInt8]?) -> [String: (stamp: Stamp, bytes: [UInt8])]? {
    guard let json else { return [:] }
    guard let found = try? JSONDecoder().decode([String: Part].self, from: text(json)) else {
      return nil
    }
    return found.mapValues { ($0.stamp, $0.bytes) }
  }

  private struct Part: Decodable {
    let stamp: Stamp
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      stamp = Stamp(
        try list.decode(Int64.self), by: try list.decode(UInt32.self))
      guard let data = Data(base64Encoded: try list.decode(String.self)) else {
        throw DecodingError.dataCorruptedError(
          in: list, debugDescription: "the part is not in base64")
      }
      bytes = Array(data)
    }
  }

  /// The binary format of jsonb begins with its version.
  private static func text(_ json: [UInt8]) -> Data { Data(json.dropFirst()) }

  /// A replica's write of a row.
  struct Note: Encodable {
    /// The replica's number.
    var by: UInt32
    /// The stamp and incarnation of an inserted row.
    var at: Int64?
    var oid: Int64?
    /// The stamps of the columns that are written; of an inserted row, the later ones.
    var cols: [String: Int64]?
    /// The stamps of the columns with parts that the replica merged with: `[time, writer]`.
    var seen: [String: [Int64]]?
    /// The exact values of columns that hold less, and the names of elements.
    var parts: [String: String]?

    /// In the binary format of jsonb.
    var bytes: [UInt8] {
      // Numbers and texts are always encoded.
      guard let data = try? JSONEncoder().encode(self) else { trap("a note cannot be encoded") }
      return [1] + data
    }
  }
}
