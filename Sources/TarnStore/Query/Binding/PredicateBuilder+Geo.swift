/// Places are objects in the form of GeoJSON: `{ type: "Point", coordinates: [longitude, latitude]
/// }`.
extension PredicateBuilder {
  /// The condition that the place at a path is within a shape; with an empty path the object itself
  /// is the place.
  func location(
    _ names: [String], _ shape: GeoShape, _ comparison: Comparison
  ) throws(PredicateError) -> ResolvedNode {
    guard comparison.op == .in, comparison.options.isEmpty else {
      throw PredicateError("compare a place with a shape only with IN: \(comparison)")
    }
    let region: GeoRegion
    do throws(GeoMistake) {
      region = try GeoRegion(shape)
    } catch {
      throw PredicateError("\(error.message): \(comparison)")
    }
    let link = names.isEmpty ? nil : try ColumnPath(names, from: classID, in: schema)
    let place = names.isEmpty ? schema[classID] : link?.target.flatMap { schema[$0] }
    guard let place, let type = place.named("type"), type.type == .string, type.collection == .none,
      let coordinates = place.named("coordinates"), coordinates.type == .double,
      coordinates.collection == .list
    else {
      let what =
        names.isEmpty
        ? "class '\(schema[classID]?.name ?? "")'" : "the object of '\(Operand.path(names))'"
      throw PredicateError(
        "\(what) is not a place, which has a string 'type' and a list of doubles 'coordinates': "
          + "\(comparison)")
    }
    guard place.isEmbedded else {
      throw PredicateError(
        "a place is an embedded object, and class '\(place.name)' is not embedded: \(comparison)")
    }
    let path = try NamedCollectionPath(names + [coordinates.name], from: classID, in: schema)
    return .collection(
      CollectionTest(path, .location(type: ColumnPath(type, of: place.id), region)))
  }
}
