/// The types of properties, as numbered in the file.
package enum RealmType: Int, Sendable {
  case int = 0
  case bool = 1
  case string = 2
  case binary = 4
  case mixed = 6
  case date = 8
  case float = 9
  case double = 10
  case decimal = 11
  case link = 12
  case objectID = 15
  case typedLink = 16
  case uuid = 17
}

/// A property of a class.
package struct RealmColumn: Sendable {
  package enum Collection: Sendable {
    case none
    case list
    case set
    case dictionary
  }

  package enum Index: Sendable {
    case none
    case values
    case fullText
  }

  package let name: String
  package let type: RealmType
  package let collection: Collection
  /// Whether a value, or an element, can be null. The attribute of the file: links always can.
  package let isNullable: Bool
  package internal(set) var index = Index.none
  /// The position of the table that links lead to.
  package internal(set) var target: Int?
  /// Its number in the file, which also tells types and attributes.
  package let key: Int
  /// Its place in every cluster.
  var leafIndex: Int { Self.leafIndex(key) }

  static func leafIndex(_ key: Int) -> Int { key & 0xffff }
  static func typeNumber(_ key: Int) -> Int { key >> 16 & 0x3f }
  static let backlink = 14

  init(_ name: String, key: Int, in keys: RealmArray) throws(RealmFileError) {
    self.name = name
    self.key = key
    let attributes = key >> 22
    let number = Self.typeNumber(key)
    // Lists of links had a type of their own.
    guard let type = number == 13 ? .link : RealmType(rawValue: number) else {
      throw keys.damaged("property '\(name)' has the unknown type \(number)")
    }
    self.type = type
    isNullable = attributes & 16 != 0
    switch (attributes & 32 != 0 || number == 13, attributes & 64 != 0, attributes & 128 != 0) {
    case (false, false, false): collection = .none
    case (true, false, false): collection = .list
    case (false, true, false): collection = .dictionary
    case (false, false, true): collection = .set
    default: throw keys.damaged("property '\(name)' is more than one kind of collection")
    }
  }
}
