import TarnStore

/// Conditions on the place of an object:
/// `$0.location.geoWithin(GeoCircle(center: bath, radius: near))`.
///
/// The place is an embedded object in the form of GeoJSON: with a string `type`, which must be
/// "Point", and a list of doubles `coordinates`, of which the first is a longitude and the second a
/// latitude. A place with another type, with fewer numbers or with impossible ones is not within
/// any shape, and neither is nil. Traps for an object of a class without these properties.
extension Query where T: EmbeddedObject {
  /// True if the place is within the shape.
  public func geoWithin<S: _GeoShape>(_ shape: S) -> Query<Bool> { isWithin(shape) }
}

extension Query {
  /// True if the place is within the shape; false for nil.
  public func geoWithin<S: _GeoShape, W: EmbeddedObject>(_ shape: S) -> Query<Bool>
  where T == W? { isWithin(shape) }

  fileprivate func isWithin(_ shape: some _GeoShape) -> Query<Bool> {
    compare(.in, .shape(shape.stored))
  }
}

extension Query where T: RealmCollection, T.Element: EmbeddedObject {
  /// True if some place of the collection is within the shape.
  public func geoWithin<S: _GeoShape>(_ shape: S) -> Query<Bool> {
    (element() as Query<T.Element>).isWithin(shape)
  }
}
