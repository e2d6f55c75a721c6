package import TarnText

/// GeoJSON (RFC 7946): a collection of features, each with an object of properties and a geometry.
package enum GeoJSON {
  package static let pathOfFeatures = ["features"]
  private static let typeOfCollection = Array(#""type":"FeatureCollection""#.utf8)

  /// Whether an input is a collection of features, by its first bytes.
  package static func isCollection(_ head: some Collection<UInt8>) -> Bool {
    guard head.first(where: { $0 > 0x20 && $0 < 0x80 }) == UInt8(ascii: "{") else { return false }
    // The members may have any order; most programs write the type first.
    let dense = head.filter { $0 > 0x20 }
    return dense.firstRange(of: typeOfCollection) != nil
  }

  /// The properties of a feature, with its id and its geometry. Other objects, and one whose names
  /// would be lost, are returned unchanged.
  package static func flattened(_ members: [JSONMember]) -> [JSONMember] {
    guard members.contains(JSONMember("type", .string("Feature"))) else { return members }
    var flat: [JSONMember] = []
    var geometry: JSONMember?
    for member in members {
      switch (member.name, member.value) {
      case ("type", _), ("bbox", _), ("properties", .null): continue
      case ("properties", .object(let properties)): flat += properties
      case ("geometry", _): geometry = member
      case ("id", _): flat.insert(member, at: 0)
      default: return members
      }
    }
    guard let geometry else { return members }
    flat.append(geometry)
    return Set(flat.map(\.name)).count == flat.count ? flat : members
  }
}
