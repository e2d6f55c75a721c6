import TarnStore

/// Conditions on where something is:
/// `$0.location.geoWithin(GeoCircle(center: bath, radius: near))`.
///
/// What is asked is an embedded object in the way of GeoJSON: with a text `type`, which has to be
/// "Point", and a list of doubles `coordinates`, of which the first is a longitude and the second
/// a latitude. One with another type, with fewer numbers or with such as are on no map is nowhere,
/// and so is nil. Traps for an object of a class without these properties.
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
