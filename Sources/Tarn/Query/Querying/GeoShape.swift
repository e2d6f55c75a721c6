import TarnStore

/// A place on the earth.
///
/// A place is stored as an embedded object of a class of the program, in the form of GeoJSON:
///
///     class Place: EmbeddedObject {
///       @Persisted var type = "Point"
///       @Persisted var coordinates: List<Double>  // longitude, latitude, and an altitude if known
///     }
///
/// Use `geoWithin` in conditions on it.
public struct GeoPoint: Hashable, Sendable {
  /// In degrees, from -90 at the south pole to 90 at the north pole.
  public let latitude: Double
  /// In degrees, from -180 to 180, east of Greenwich. -180 and 180 are the same, and at a pole all
  /// longitudes are the same.
  public let longitude: Double
  /// In meters, not negative. Conditions ignore it.
  public let altitude: Double

  /// Nil for a latitude beyond ±90, a longitude beyond ±180, a negative altitude, and numbers that
  /// are not finite.
  public init?(latitude: Double, longitude: Double, altitude: Double = 0) {
    guard GeoPosition(latitude: latitude, longitude: longitude) != nil, altitude.isFinite,
      altitude >= 0
    else {
      return nil
    }
    (self.latitude, self.longitude, self.altitude) = (latitude, longitude, altitude)
  }

  fileprivate init?(_ place: (latitude: Double, longitude: Double)) {
    self.init(latitude: place.latitude, longitude: place.longitude)
  }

  fileprivate var position: GeoPosition {
    guard let position = GeoPosition(latitude: latitude, longitude: longitude) else {
      trap("internal error: a point that is not on the earth")
    }
    return position
  }
}

/// A shape for `geoWithin`: ``GeoBox``, ``GeoCircle`` or ``GeoPolygon``.
public protocol _GeoShape: Hashable, Sendable {}

/// All places between two latitudes and two longitudes, including these.
///
/// It extends eastwards from the first longitude to the second, across the meridian of 180° if the
/// first is greater. A box that reaches a pole contains it, because a pole has all longitudes. A
/// box whose top is south of its bottom is empty.
public struct GeoBox: _GeoShape {
  /// The corner in the south-west.
  public let bottomLeft: GeoPoint
  /// The corner in the north-east.
  public let topRight: GeoPoint

  /// The box between two corners.
  public init(bottomLeft: GeoPoint, topRight: GeoPoint) {
    (self.bottomLeft, self.topRight) = (bottomLeft, topRight)
  }

  /// The box between two corners, each as a latitude and a longitude. Nil for a place that is not
  /// on the earth, and for a top that is south of the bottom.
  public init?(bottomLeft: (Double, Double), topRight: (Double, Double)) {
    guard let bottomLeft = GeoPoint(bottomLeft), let topRight = GeoPoint(topRight) else {
      return nil
    }
    self.init(bottomLeft: bottomLeft, topRight: topRight)
    if isUpsideDown { return nil }
  }

  /// Two corners have been confused.
  var isUpsideDown: Bool { topRight.latitude < bottomLeft.latitude }
}

/// A distance along the surface of the earth, which is a sphere of 6,378.1 km radius here.
public struct Distance: Hashable, Sendable {
  /// As an angle at the center of the earth.
  public let radians: Double

  private static let earthRadiusInMeters = 6_378_100.0
  private static let metersInMile = 1_609.344

  private init?(in radians: Double) {
    guard radians >= 0, radians.isFinite else { return nil }
    self.radians = radians
  }

  /// Nil for a negative distance or one that is not finite, as in the other initializers.
  public static func kilometers(_ kilometers: Double) -> Distance? {
    Distance(in: kilometers * 1000 / earthRadiusInMeters)
  }
  /// In miles of 1,609.344 m.
  public static func miles(_ miles: Double) -> Distance? {
    Distance(in: miles * metersInMile / earthRadiusInMeters)
  }
  /// As an angle at the center of the earth, in degrees.
  public static func degrees(_ degrees: Double) -> Distance? {
    Distance(in: degrees * .pi / 180)
  }
  /// As an angle at the center of the earth.
  public static func radians(_ radians: Double) -> Distance? { Distance(in: radians) }

  /// The distance in kilometers.
  public func asKilometers() -> Double { radians * Self.earthRadiusInMeters / 1000 }
  /// The distance in miles of 1,609.344 m.
  public func asMiles() -> Double { radians * Self.earthRadiusInMeters / Self.metersInMile }
  /// The distance as an angle at the center of the earth, in degrees.
  public func asDegrees() -> Double { radians * 180 / .pi }
}

/// All places whose great-circle distance from a center is at most a radius.
///
/// The distance is the angle between the directions of the two places from the center of the earth,
/// `atan2(|a × b|, a · b)`, which is exact for small and for large distances.
public struct GeoCircle: _GeoShape {
  /// The center.
  public let center: GeoPoint
  /// The radius as an angle at the center of the earth. From π on it contains the whole earth.
  public let radiusInRadians: Double

  /// Nil for a negative radius, or one that is not finite.
  public init?(center: GeoPoint, radiusInRadians: Double) {
    guard let radius = Distance.radians(radiusInRadians) else { return nil }
    self.init(center: center, radius: radius)
  }

  /// The circle around a center.
  public init(center: GeoPoint, radius: Distance) {
    (self.center, radiusInRadians) = (center, radius.radians)
  }

  /// The circle around a latitude and a longitude. Nil for a place that is not on the earth.
  public init?(center: (Double, Double), radius: Distance) {
    guard let center = GeoPoint(center) else { return nil }
    self.init(center: center, radius: radius)
  }

  /// The circle around a latitude and a longitude. Nil for a place that is not on the earth, for a
  /// negative radius, and for one that is not finite.
  public init?(center: (Double, Double), radiusInRadians: Double) {
    guard let center = GeoPoint(center) else { return nil }
    self.init(center: center, radiusInRadians: radiusInRadians)
  }
}

/// All places inside a ring of great-circle arcs, and in no hole.
///
/// A ring is a list of places, of which the last one equals the first. Between two of them it takes
/// the shortest path: along the equator, but not along another parallel. It divides the earth in
/// two. Its inside is the smaller part, whatever the winding; if both are equal, the part on the
/// left. A place on the ring, that is, within a hundredth of a millimeter of it, is in the polygon,
/// and so is one on the ring of a hole.
public struct GeoPolygon: _GeoShape {
  /// The outer border of the polygon.
  public let outerRing: [GeoPoint]
  /// Rings inside the outer one whose insides do not belong to the polygon.
  public let holes: [[GeoPoint]]

  /// Nil for a ring of fewer than four places, with fewer than three different ones, whose last
  /// place is not its first, that crosses itself, or that connects a place directly with its
  /// antipode, to which no single path is the shortest; for a hole that is not inside the outer
  /// ring; for rings that cross each other or have a side in common; and for more than 10,000
  /// places in all.
  public init?(outerRing: [GeoPoint], holes: [[GeoPoint]] = []) {
    (self.outerRing, self.holes) = (outerRing, holes)
    if stored.mistake != nil { return nil }
  }

  /// The same with the rings of holes one by one.
  public init?(outerRing: [GeoPoint], holes: [GeoPoint]...) {
    self.init(outerRing: outerRing, holes: holes)
  }

  /// The same for rings of latitudes and longitudes. Nil also for a place that is not on the earth.
  public init?(outerRing: [(Double, Double)], holes: [[(Double, Double)]] = []) {
    let outer = outerRing.compactMap { GeoPoint($0) }
    let inner = holes.map { $0.compactMap { GeoPoint($0) } }
    guard outer.count == outerRing.count, inner.map(\.count) == holes.map(\.count) else {
      return nil
    }
    self.init(outerRing: outer, holes: inner)
  }

  /// The same with the rings of holes one by one.
  public init?(outerRing: [(Double, Double)], holes: [(Double, Double)]...) {
    self.init(outerRing: outerRing, holes: holes)
  }
}

extension _GeoShape {
  /// The shape in the engine's form.
  var stored: GeoShape {
    switch self {
    case let box as GeoBox:
      return .box(bottomLeft: box.bottomLeft.position, topRight: box.topRight.position)
    case let circle as GeoCircle:
      return .circle(center: circle.center.position, radius: circle.radiusInRadians)
    case let polygon as GeoPolygon:
      return .polygon(
        outer: polygon.outerRing.map(\.position),
        holes: polygon.holes.map { $0.map(\.position) })
    default: trap("Shapes are GeoBox, GeoCircle and GeoPolygon; there can be no others")
    }
  }
}

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
    require(
      (shape as? GeoBox)?.isUpsideDown != true,
      "The top of a GeoBox must not be south of its bottom: exchange the corners.")
    return compare(.in, .shape(shape.stored))
  }
}

extension Query where T: RealmCollection, T.Element: EmbeddedObject {
  /// True if some place of the collection is within the shape.
  public func geoWithin<S: _GeoShape>(_ shape: S) -> Query<Bool> {
    (element() as Query<T.Element>).isWithin(shape)
  }
}
